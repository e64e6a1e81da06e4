# One translation unit of all that Verilator wrote for a block: cmake -D FOLDER=… -D BLOCK=… -P one_unit.cmake
file(GLOB units RELATIVE ${FOLDER} ${FOLDER}/V${BLOCK}*.cpp)
list(REMOVE_ITEM units V${BLOCK}__ALL.cpp)
list(TRANSFORM units PREPEND "#include \"")
list(TRANSFORM units APPEND "\"\n")
list(JOIN units "" text)
file(WRITE ${FOLDER}/V${BLOCK}__ALL.cpp "${text}")
