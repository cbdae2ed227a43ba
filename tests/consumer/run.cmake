# Installs BUILD to a fresh prefix, then configures, builds and runs a project that knows nothing but that prefix.
cmake_minimum_required(VERSION 3.25)
set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    string(REPLACE ";" " " line "${ARGN}")
    message(FATAL_ERROR "${line}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

function(expect text)
  if(NOT out STREQUAL text)
    message(FATAL_ERROR "expected '${text}', got '${out}'")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --config ${CONFIG})

# The package promises the core only, so the headers of the compiled parts must not be there.
file(GLOB_RECURSE headers RELATIVE ${prefix}/${INCLUDEDIR} ${prefix}/${INCLUDEDIR}/*.hpp)
file(GLOB_RECURSE stray RELATIVE ${prefix}/${INCLUDEDIR}
  ${prefix}/${INCLUDEDIR}/trainplan/io/* ${prefix}/${INCLUDEDIR}/trainplan/render/*)
if(NOT headers OR stray)
  message(FATAL_ERROR "installed headers: ${headers}; not part of the core: ${stray}")
endif()
list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"\n")
list(JOIN headers "" includes)
file(WRITE ${WORK}/every_header.hpp "${includes}")

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_CXX_FLAGS=-I${WORK} -DCMAKE_BUILD_TYPE=Debug
  -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
expect("157.5 GB\n")
if(VERSION_LINE)
  run(${prefix}/${BINDIR}/trainplan --version)
  expect("${VERSION_LINE}\n")
endif()
