# Compiles SOURCE and expects what its line `// must: ...` says: `compile`, or an error that matches a regular expression.
cmake_minimum_required(VERSION 3.25)
file(STRINGS ${SOURCE} must REGEX "^// must: ")
string(REGEX REPLACE "^// must: " "" must "${must}")
set(ENV{LC_ALL} C)  # plain quotes in the messages
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${flags} -I${INCLUDE} ${SOURCE}
  RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)

if(must STREQUAL "compile")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "must compile, but:\n${out}")
  endif()
elseif(status EQUAL 0)
  message(FATAL_ERROR "must not compile, but does")
elseif(NOT must OR NOT out MATCHES "error: [^\n]*(${must})")
  message(FATAL_ERROR "no error matches '${must}':\n${out}")
endif()
