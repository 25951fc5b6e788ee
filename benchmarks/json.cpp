#include <boost/json/src.hpp> // the library itself: it needs no linking then
