# Writes OUT: the texts of ROOT/<kind>/<name>.json and .csv (PATHS, relative) as trainplan::shipped(), see io/shipped.hpp.
cmake_minimum_required(VERSION 3.25)

# A literal longer than 65,536 bytes need not be accepted, so a long text becomes several literals, cut at a line's end.
function(as_literals text out)
  set(result "")
  string(LENGTH "${text}" length)
  set(limit 60000)
  while(length GREATER limit)
    string(SUBSTRING "${text}" 0 ${limit} head)
    string(FIND "${head}" "\n" cut REVERSE)
    if(cut EQUAL -1)
      message(FATAL_ERROR "a line of more than ${limit} bytes")
    endif()
    math(EXPR cut "${cut} + 1")
    string(SUBSTRING "${text}" 0 ${cut} head)
    string(SUBSTRING "${text}" ${cut} -1 text)
    string(APPEND result "R\"shipped(${head})shipped\"\n")
    string(LENGTH "${text}" length)
  endwhile()
  set(${out} "${result}R\"shipped(${text})shipped\"sv" PARENT_SCOPE)
endfunction()

# By name as it is shipped: "measured.csv" comes after "measured".
list(TRANSFORM PATHS REPLACE "\\.json$" "")
list(SORT PATHS)
set(rows "")
foreach(path IN LISTS PATHS)
  get_filename_component(kind ${path} DIRECTORY)
  get_filename_component(name ${path} NAME)
  if(path MATCHES "\\.csv$")
    file(READ ${ROOT}/${path} text)
  else()
    file(READ ${ROOT}/${path}.json text)
  endif()
  string(FIND "${text}" ")shipped\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${path} contains the delimiter of the literal")
  endif()
  as_literals("${text}" literals)
  string(APPEND rows "    {\"${kind}\", \"${name}\",\n${literals}},\n")
endforeach()

file(WRITE ${OUT} "// Generated from configs/ by src/io/embed.cmake.
#include \"trainplan/io/shipped.hpp\"

#pragma GCC diagnostic ignored \"-Woverlength-strings\"

namespace trainplan {

using namespace std::string_view_literals;  // a length for free: long texts exceed the steps of a constexpr strlen

std::span<const Shipped> shipped() {
  static constexpr Shipped all[] = {
${rows}  };
  return all;
}

}  // namespace trainplan
")
