// C++ exceptions and Python exceptions, each turned into the other.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <c10/util/Export.h>

#include <exception>
#include <utility>

namespace at::inline oploom_v1::python {

// Thrown by C++ code after it, or CPython, has set the Python error.
struct OPLOOM_API PythonError : std::exception {
  const char* what() const noexcept override { return "a Python error is set"; }
};

// Turns the C++ exception being handled into the Python error. Call it in `catch (...)`.
OPLOOM_API void set_python_error() noexcept;

// A subclass of MemoryError; created by `add_exceptions`.
extern PyObject* OutOfMemoryError;
void add_exceptions(PyObject* module);

// Runs `body`; an exception becomes the Python error and `failure` the result.
template <class Result, class Body>
Result guarded(Result failure, Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    set_python_error();
    return failure;
  }
}

template <class Body>
PyObject* guarded(Body&& body) noexcept {
  return guarded(static_cast<PyObject*>(nullptr), std::forward<Body>(body));
}

// An owned reference.
class Ref {
 public:
  Ref() = default;
  // Takes over a new reference; null means that CPython has set an error.
  explicit Ref(PyObject* object) : object_(object) {
    if (object == nullptr) throw PythonError();
  }
  static Ref borrow(PyObject* object) {
    Py_XINCREF(object);
    return steal_maybe(object);
  }
  static Ref steal_maybe(PyObject* object) {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Throws if a CPython call reported an error by its negative status.
inline void check_status(int status) {
  if (status < 0) throw PythonError();
}

// The truth value of an object; throws if asking for it raised an error.
inline bool is_true(PyObject* object) {
  const int truth = PyObject_IsTrue(object);
  check_status(truth);
  return truth != 0;
}

// Releases the GIL while it lives, if asked to.
class ReleaseGil {
 public:
  explicit ReleaseGil(bool release = true) : state_(release ? PyEval_SaveThread() : nullptr) {}
  ~ReleaseGil() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_;
};

// Holds the GIL while it lives, from any thread.
class HoldGil {
 public:
  HoldGil() : state_(PyGILState_Ensure()) {}
  ~HoldGil() { PyGILState_Release(state_); }
  HoldGil(const HoldGil&) = delete;
  HoldGil& operator=(const HoldGil&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace at::inline oploom_v1::python
