//===- Seldom.h - a sequence that most have none of ----------------------===//
#ifndef ZERO_PLANNING_SELDOM_H
#define ZERO_PLANNING_SELDOM_H

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

namespace zero::planning {

/// A string or vector of which a million owners have none: an empty one takes 8 bytes, and reads as
/// any other. A value, copied with its owner.
template <typename Sequence> class Seldom {
public:
  using Value = typename Sequence::value_type;

  Seldom() = default;
  Seldom(std::initializer_list<Value> values) : Seldom(Sequence(values)) {}
  template <typename Source>
    requires(std::is_convertible_v<Source, Sequence> &&
             !std::is_same_v<std::remove_cvref_t<Source>, Seldom>)
  Seldom(Source &&source) {
    Sequence sequence = std::forward<Source>(source);
    if (!sequence.empty())
      held = std::make_unique<Sequence>(std::move(sequence));
  }
  Seldom(const Seldom &other)
      : held(other.held ? std::make_unique<Sequence>(*other.held) : nullptr) {}
  Seldom(Seldom &&) noexcept = default;
  Seldom &operator=(Seldom other) noexcept {
    held = std::move(other.held);
    return *this;
  }

  const Sequence &operator*() const {
    static const Sequence none;
    return held ? *held : none;
  }
  operator const Sequence &() const { return **this; }

  bool empty() const { return !held || held->empty(); }
  size_t size() const { return held ? held->size() : 0; }
  const Value *data() const { return (**this).data(); }
  const Value *begin() const { return data(); }
  const Value *end() const { return data() + size(); }
  const Value &operator[](size_t i) const { return (*held)[i]; }

  void clear() { held.reset(); }
  void push_back(Value value) {
    if (!held)
      held = std::make_unique<Sequence>();
    held->push_back(std::move(value));
  }

private:
  std::unique_ptr<Sequence> held;
};

} // namespace zero::planning

#endif // ZERO_PLANNING_SELDOM_H
