// A folder of files that are wrong in one way each, and some that are right.
#ifndef KILN_TESTS_REGRESSION_BAD_FILES_H_
#define KILN_TESTS_REGRESSION_BAD_FILES_H_

#include <string>

namespace kiln::testing {

// Writes them below `folder`, which exists:
//   mm.py, space.py            a 16x16 product and a space for it
//   two.py                     a module with the functions f and g
//   *.py                       programs and schedules, see the source
//   a.npy                      16x16 float32; other *.npy do not fit or are
//                              damaged
//   *.pb                       no modules
//   foreign/ corrupt/ schema/ text/  work directories without a usable database
//   file, empty_dir/
void WriteBadFiles(const std::string& folder);

}  // namespace kiln::testing

#endif  // KILN_TESTS_REGRESSION_BAD_FILES_H_
