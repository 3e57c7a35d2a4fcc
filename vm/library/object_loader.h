// Loads a relocatable x86-64 ELF object into memory and links it there, with no
// compiler or linker around: what a search measures. What is shipped, and any
// other processor's code, is a shared object that the system opens.
//
// Linking is meant for what LLVM emits for kernels: position-independent code
// of the small code model in .text*, constants in .rodata*, and .data* and .bss
// if need be. Unwind tables and notes are left out. Memory is never writable
// and executable at once.
#ifndef KILN_VM_LIBRARY_OBJECT_LOADER_H_
#define KILN_VM_LIBRARY_OBJECT_LOADER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "kiln/vm/library/kernel_abi.h"

namespace kiln {

struct ObjectLoadOptions {
  // Addresses of symbols that the object leaves undefined: functions that the
  // program calls by T.call_extern, and those of the C library.
  std::map<std::string, const void*> symbols;
  // Whether the process is asked (dlsym) for those that are not in `symbols`.
  bool search_process = true;
};

// Code and data of one object; unloaded on destruction.
class LoadedObject {
 public:
  // Any bytes are safe to load: what is not an object, is damaged, or needs
  // what the loader does not offer is an error that says what. Running the code
  // is another matter: it is native code, as trusted as the program.
  static absl::StatusOr<std::shared_ptr<const LoadedObject>> Load(
      std::string_view bytes, const ObjectLoadOptions& options = {});
  // Opens a shared object of this machine's kind (codegen/link), whose
  // undefined symbols the process provides. NOT_FOUND where there is no such
  // file.
  static absl::StatusOr<std::shared_ptr<const LoadedObject>> Open(
      const std::string& path);
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  // The address of a symbol that the object defines and does not keep to
  // itself; NOT_FOUND, with the names there are, otherwise.
  absl::StatusOr<void*> Symbol(const std::string& name) const;
  // A kernel by its symbol. FAILED_PRECONDITION where the object says that it
  // follows another version of the calling convention (kernel_abi.h); one that
  // says nothing is taken as it is.
  absl::StatusOr<KilnKernel> Kernel(const std::string& name) const;

  uint64_t bytes() const { return size_; }  // In memory; 0 if it was opened.

 private:
  friend class ObjectLinker;
  LoadedObject() = default;
  void* Find(const std::string& name) const;  // or null

  void* library_ = nullptr;  // what was opened
  void* memory_ = nullptr;   // or what was linked
  uint64_t size_ = 0;
  std::map<std::string, void*> symbols_;
};

}  // namespace kiln

#endif  // KILN_VM_LIBRARY_OBJECT_LOADER_H_
