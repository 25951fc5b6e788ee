# holdfast_objects(<target>): the compile options of objects that are in libraries.
function(holdfast_objects target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    set_target_properties(${target} PROPERTIES
        CXX_EXTENSIONS OFF
        CXX_VISIBILITY_PRESET hidden
        VISIBILITY_INLINES_HIDDEN ON
        POSITION_INDEPENDENT_CODE ON
        UNITY_BUILD ${HOLDFAST_UNITY_BUILD})
    target_include_directories(${target} PRIVATE
        ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE holdfast_compile_options)
endfunction()

# holdfast_library(<target> <name> [OBJECTS <target>...] [PUBLIC <library>...]
#     [PRIVATE <library>...])
#
# Makes the two kinds of a library from the objects of <target>_objects: <target>, static, and
# <target>_shared. Both are installed as holdfast::<name>. PUBLIC and PRIVATE are the libraries to
# link; one that was made by this function is linked in the same kind. OBJECTS are
# those that several libraries have, each for itself.
#
# Inside this project everything links the static libraries: most tests use internal names, which
# the shared libraries do not export. The kinds that are not wanted are built only if something
# needs them.
function(holdfast_library target name)
    cmake_parse_arguments(PARSE_ARGV 2 link "" "" "OBJECTS;PUBLIC;PRIVATE")

    # A minor release of 0.x may break binary compatibility.
    set(so_version ${PROJECT_VERSION_MAJOR})
    if(PROJECT_VERSION_MAJOR EQUAL 0)
        set(so_version 0.${PROJECT_VERSION_MINOR})
    endif()

    holdfast_objects(${target}_objects)
    set(objects $<TARGET_OBJECTS:${target}_objects>)
    foreach(each IN LISTS link_OBJECTS)
        list(APPEND objects $<TARGET_OBJECTS:${each}>)
    endforeach()
    add_library(${target} STATIC ${objects})
    add_library(${target}_shared SHARED ${objects})
    set_target_properties(${target}_shared PROPERTIES
        OUTPUT_NAME ${target}
        VERSION ${PROJECT_VERSION}
        SOVERSION ${so_version})
    foreach(kind IN ITEMS static shared)
        set(library ${target})
        if(kind STREQUAL "shared")
            set(library ${target}_shared)
        endif()
        set_target_properties(${library} PROPERTIES
            LINKER_LANGUAGE CXX
            EXPORT_NAME ${name})
        if(NOT kind IN_LIST library_kinds)
            set_target_properties(${library} PROPERTIES EXCLUDE_FROM_ALL ON)
        endif()
        target_compile_features(${library} PUBLIC cxx_std_20)
        target_include_directories(${library} PUBLIC
            $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:holdfast_compile_options>)
    endforeach()

    foreach(access IN ITEMS PUBLIC PRIVATE)
        foreach(needed IN LISTS link_${access})
            target_link_libraries(${target} ${access} ${needed})
            set(needed_shared ${needed})
            if(TARGET ${needed}_shared)
                set(needed_shared ${needed}_shared)
            endif()
            target_link_libraries(${target}_shared ${access} ${needed_shared})
            target_link_libraries(${target}_objects PRIVATE ${needed})
        endforeach()
    endforeach()

    if(library_kinds STREQUAL "shared" AND NOT PROJECT_IS_TOP_LEVEL)
        add_library(holdfast::${name} ALIAS ${target}_shared)
    else()
        add_library(holdfast::${name} ALIAS ${target})
    endif()
endfunction()
