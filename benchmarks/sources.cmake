# What is compiled against each library.
set(OPLOOM_BENCHMARK_SOURCES)
foreach(file main FixedCosts Functions Indexing Layouts MatrixProducts Pointwise Random Reductions
             Training)
  list(APPEND OPLOOM_BENCHMARK_SOURCES ${CMAKE_CURRENT_LIST_DIR}/${file}.cpp)
endforeach()
