// The operators of C++ as a C++ program sees them; operators.sh builds and runs it in each way of linking.
//
//   operators CASE    exit 0 when the case holds; what does not hold is said on stderr
//
// Built with -DPLUGIN it is a library that a program without C++ loads.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            std::_Exit(1);                                                             \
        }                                                                              \
    } while (0)

namespace {

volatile std::size_t too_much = PTRDIFF_MAX;
int passed_through = 0;

struct Witness {
    ~Witness() { passed_through++; }
};

template <typename Make> bool throws(Make make) {
    int before = passed_through;
    try {
        Witness witness;
        make();
    } catch (const std::bad_alloc &) {
        return passed_through == before + 1;
    }
    return false;
}

void every_form(std::size_t size, std::size_t bytes) {
    const std::align_val_t align{bytes};
    const std::nothrow_t &quiet = std::nothrow;
    void *objects[] = {
        ::operator new(size),
        ::operator new[](size),
        ::operator new(size, quiet),
        ::operator new[](size, quiet),
        ::operator new(size, align),
        ::operator new[](size, align),
        ::operator new(size, align, quiet),
        ::operator new[](size, align, quiet),
        ::operator new(size),
        ::operator new[](size),
        ::operator new(size, align),
        ::operator new[](size, align),
    };
    for (int i = 0; i < 12; i++) {
        bool aligned = (i >= 4 && i < 8) || i >= 10;
        std::size_t least = aligned && bytes > 16 ? bytes : 16;
        CHECK(objects[i] != nullptr && reinterpret_cast<std::uintptr_t>(objects[i]) % least == 0);
        std::memset(objects[i], i, size);
    }
    ::operator delete(objects[0]);
    ::operator delete[](objects[1]);
    ::operator delete(objects[2], quiet);
    ::operator delete[](objects[3], quiet);
    ::operator delete(objects[4], align);
    ::operator delete[](objects[5], align);
    ::operator delete(objects[6], align, quiet);
    ::operator delete[](objects[7], align, quiet);
    ::operator delete(objects[8], size);
    ::operator delete[](objects[9], size);
    ::operator delete(objects[10], size, align);
    ::operator delete[](objects[11], size, align);
}

void forms() {
    for (std::size_t size = 0; size < 5000000; size = size * 4 + 9) {
        for (std::size_t bytes = 1; bytes <= 1 << 16; bytes *= 4) {
            every_form(size, bytes);
        }
    }
    std::vector<std::string> texts;
    for (int i = 0; i < 20000; i++) {
        texts.push_back(std::string(static_cast<std::size_t>(i % 300), 'x'));
    }
    CHECK(texts[299].size() == 299);
}

void exceptions() {
    const std::align_val_t align{64};
    CHECK(throws([] { return ::operator new(too_much); }));
    CHECK(throws([] { return ::operator new[](too_much); }));
    CHECK(throws([&] { return ::operator new(too_much, align); }));
    CHECK(throws([&] { return ::operator new[](too_much, align); }));
    CHECK(::operator new(too_much, std::nothrow) == nullptr);
    CHECK(::operator new[](too_much, std::nothrow) == nullptr);
    CHECK(::operator new(too_much, align, std::nothrow) == nullptr);
    CHECK(::operator new[](too_much, align, std::nothrow) == nullptr);
}

int calls = 0;
std::vector<void *> reserve;

void three_times() {
    if (++calls == 3) {
        std::set_new_handler(nullptr);
    }
}

void give_reserve() {
    calls++;
    CHECK(!reserve.empty());
    ::operator delete(reserve.back());
    reserve.pop_back();
}

void throw_own() {
    calls++;
    throw std::bad_alloc();
}

void handlers() {
    std::set_new_handler(three_times);
    CHECK(throws([] { return ::operator new(too_much); }) && calls == 3);
    std::set_new_handler(three_times);
    calls = 0;
    CHECK(::operator new(too_much, std::nothrow) == nullptr && calls == 3);
    std::set_new_handler(three_times);
    calls = 0;
    CHECK(throws([] { return ::operator new[](too_much, std::align_val_t{64}); }) && calls == 3);
    std::set_new_handler(throw_own);
    calls = 0;
    CHECK(throws([] { return ::operator new(too_much); }) && calls == 1);
    std::set_new_handler(nullptr);
}

void limited() {
    const rlim_t mib = 1 << 20;
    std::vector<void *> all;
    all.reserve(10000);
    reserve.reserve(10);
    unsigned long pages = 0; // what there is already, the range among it
    std::FILE *file = std::fopen("/proc/self/statm", "r");
    CHECK(file != nullptr && std::fscanf(file, "%lu", &pages) == 1);
    std::fclose(file);
    const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + 200 * mib;
    const struct rlimit limit = {most, most};
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    CHECK(throws([&] {
        for (;;) {
            all.push_back(::operator new(4 * mib));
        }
    }));
    CHECK(all.size() > 10);
    for (int i = 0; i < 4; i++) {
        reserve.push_back(all.back());
        all.pop_back();
    }
    std::set_new_handler(give_reserve);
    for (int i = 0; i < 3; i++) {
        all.push_back(::operator new(4 * mib));
    }
    CHECK(calls > 0);
    std::set_new_handler(nullptr);
    for (void *object : all) {
        ::operator delete(object, 4 * mib);
    }
    ::operator delete(::operator new(64 * mib));
}

} // namespace

#ifdef PLUGIN
extern "C" int plugin() {
    calls = 0;
    exceptions();
    handlers();
    return calls;
}
#else
int main(int, char **arguments) {
    const std::string name = arguments[1];
    if (name == "forms") {
        forms();
    } else if (name == "exceptions") {
        exceptions();
    } else if (name == "handlers") {
        handlers();
    } else if (name == "limited") {
        limited();
    } else if (name == "twice") {
        void *volatile object = ::operator new(100); // the compiler is not to know what is wrong
        ::operator delete(object);
        ::operator delete(object, 100);
    } else if (name == "inside") {
        volatile std::size_t offset = 16;
        ::operator delete[](static_cast<char *>(::operator new[](1000)) + offset);
    } else {
        return 2;
    }
    return 0;
}
#endif
