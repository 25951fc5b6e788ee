# holdfast_control(<name> <what is wrong> EDIT <file> <text> <wrong text> ... [RUN <argument>]
#     [COMPILE <file>...])
#
# Adds the program `control_<name>`. It is ${holdfast_control_main}, but some lines of the library
# or of the tests are replaced by wrong ones. A test must detect the error. Each <text> must be in
# its file exactly once. Otherwise the control could be without effect, so the configuration fails.
#
# RUN: arguments of the program, in one word of this function, separated by spaces. If a header is
# edited, COMPILE lists the source files that must be compiled with the wrong header.
set(holdfast_controls "")

function(holdfast_control name what)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name})
    set(sources "")
    set(edited "")
    set(at 2)
    while(at LESS ARGC AND "${ARGV${at}}" STREQUAL "EDIT")
        math(EXPR file_at "${at} + 1")
        math(EXPR old_at "${at} + 2")
        math(EXPR new_at "${at} + 3")
        math(EXPR at "${at} + 4")
        set(file "${ARGV${file_at}}")
        set(old "${ARGV${old_at}}")
        set(new "${ARGV${new_at}}")
        if(file IN_LIST edited)
            file(READ ${folder}/${file} text)
        else()
            file(READ ${PROJECT_SOURCE_DIR}/${file} text)
            set_property(DIRECTORY APPEND PROPERTY
                CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
            list(APPEND edited ${file})
            if(file MATCHES "\\.cpp$")
                list(APPEND sources ${folder}/${file})
            endif()
        endif()
        string(FIND "${text}" "${old}" first)
        string(FIND "${text}" "${old}" last REVERSE)
        if(first EQUAL -1 OR NOT first EQUAL last)
            message(FATAL_ERROR "control ${name}: the text is not exactly once in ${file}:\n${old}")
        endif()
        string(REPLACE "${old}" "${new}" text "${text}")
        file(CONFIGURE OUTPUT ${folder}/${file} CONTENT "${text}" @ONLY)
    endwhile()
    set(arguments "")
    if(at LESS ARGC AND "${ARGV${at}}" STREQUAL "RUN")
        math(EXPR at "${at} + 1")
        set(arguments "\t${ARGV${at}}")
        math(EXPR at "${at} + 1")
    endif()
    if(at LESS ARGC AND "${ARGV${at}}" STREQUAL "COMPILE")
        math(EXPR at "${at} + 1")
        while(at LESS ARGC)
            list(APPEND sources ${PROJECT_SOURCE_DIR}/${ARGV${at}})
            math(EXPR at "${at} + 1")
        endwhile()
    endif()

    if(at LESS ARGC)
        message(FATAL_ERROR "control ${name}: \"${ARGV${at}}\" is not understood")
    endif()

    add_executable(control_${name} ${sources})
    target_include_directories(control_${name} BEFORE PRIVATE ${folder}/src ${folder}/test)
    target_compile_options(control_${name} PRIVATE -w)
    set_target_properties(control_${name} PROPERTIES UNITY_BUILD ${HOLDFAST_UNITY_TESTS})
    target_precompile_headers(control_${name} REUSE_FROM holdfast_control_headers)
    target_link_libraries(control_${name} PRIVATE ${holdfast_control_main})
    set(holdfast_controls
        "${holdfast_controls}$<TARGET_FILE:control_${name}>\t${what}${arguments}\n" PARENT_SCOPE)
endfunction()

# holdfast_test_controls(<test> <script> <program> [<argument>...])
#
# Adds the CTest test <test>: <script> runs the correct <program> and all controls of this folder.
# The arguments of the script: the program, a list of the controls, and <argument>. A script for
# most programs is ${holdfast_run_controls}.
set(holdfast_run_controls ${CMAKE_CURRENT_LIST_DIR}/run)
function(holdfast_test_controls test script program)
    set(list ${CMAKE_CURRENT_BINARY_DIR}/controls.txt)
    file(GENERATE OUTPUT ${list} CONTENT "${holdfast_controls}")
    holdfast_computation(${test} ${script} $<TARGET_FILE:${program}> ${list} ${ARGN})
    set_tests_properties(${test} PROPERTIES COST 1200) # they run first
endfunction()
