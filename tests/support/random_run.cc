// SPDX-License-Identifier: Apache-2.0
#include "support/random_run.h"

#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "decode/decoder.h"

namespace svd::test {

WriterOptions random_chunks(std::mt19937_64& random) {
  WriterOptions options;
  if (random() % 2 == 0) options.chunk_steps = static_cast<std::uint32_t>(1 + random() % 20);
  return options;
}

namespace {

constexpr std::uint64_t kChannelBytes = 6;

// What the kernel does for a call, with memory that begins at `address`.
void random_call(TraceBuilder& trace, std::mt19937_64& random, Addr address) {
  auto below = [&random](std::uint64_t n) { return random() % n; };
  Access access = below(2) == 0 ? Access::kRead : Access::kWrite;
  KernelAccess kernel{.access = access, .address = address, .size = 1 + below(4)};
  trace.event(kernel);
  if (below(4) == 0) return;
  trace.event(Transfer{.access = access,
                       .channel = static_cast<std::uint32_t>(below(8) == 0 ? 0 : 1 + below(2)),
                       .position = below(kChannelBytes),
                       .address = address,
                       .size = 1 + below(kernel.size)});
  if (below(12) == 0)
    trace.event(Transfer{.channel = 1, .position = below(kChannelBytes), .size = 2});
}

}  // namespace

void random_statements(TraceBuilder& trace, std::mt19937_64& random, std::size_t length,
                       bool calls) {
  auto below = [&random](std::uint64_t n) { return random() % n; };
  std::vector<StatementId> statements;
  std::vector<std::string> names;
  std::size_t count = 3 + below(12);
  for (std::size_t i = 0; i < count; ++i) {
    Statement statement;
    statement.label = "s" + std::to_string(i);
    for (std::size_t k = below(3); k-- > 0 && !statements.empty();)
      statement.controlled_by.push_back(statements[below(statements.size())]);
    statements.push_back(trace.statement(statement));
    names.push_back(statement.label);
  }
  Var place = trace.var("place", 24);
  Var lock = trace.lock("lock");
  auto any = [&] {
    Var var{place.address + below(20), static_cast<std::uint16_t>(1 + below(4))};
    return var;
  };
  for (std::size_t i = 0; i < length; ++i) {
    trace.thread(static_cast<std::uint32_t>(1 + below(3)));
    if (below(6) == 0) trace.lock(lock).unlock(lock);
    const std::string& name = names[below(names.size())];
    if (calls && below(3) == 0) {
      trace.exec(name);
      random_call(trace, random, any().address);
      continue;
    }
    Operand read = r(any());
    if (below(3) == 0) read = address(read);
    switch (below(4)) {
      case 0:
        trace.exec(name, {read});
        break;
      case 1:
        trace.exec(name, {w(any())});
        break;
      case 2:
        trace.exec(name, {read, w(any())});
        break;
      default:
        trace.exec(name, {read, r(any()), w(any())});
    }
  }
}

namespace {

constexpr std::uint64_t kCode = 0x401000;
constexpr std::uint64_t kShared = 0x10000;
constexpr std::uint64_t kSharedBytes = 48;
constexpr std::uint64_t kStack = 0x7000'0000;  // of thread t it ends at t times that
constexpr std::size_t kThreads = 3;

// Where the accesses of an instruction go.
enum class Place { kData, kPush, kPop, kFrame, kReserve, kLeave };

struct Made {
  std::vector<std::uint8_t> code;
  Place place = Place::kData;
};

enum class End { kBranch, kJump, kIndirectJump, kCall, kIndirectCall, kTailCall, kReturn, kSystem };

struct Piece {
  std::uint64_t address = 0;
  Block block;
  BlockId id{};
  std::vector<Place> places;  // of each instruction
  End end = End::kReturn;
  std::size_t target = 0;  // block or function
};

struct Function {
  std::vector<Piece> pieces;
};

struct Frame {
  std::size_t function = 0;
  std::size_t back = 0;    // the piece to go on with
  std::uint64_t slot = 0;  // of the return address
  bool handler = false;
};

struct Running {
  ThreadId id{};
  std::vector<Frame> frames;
  std::size_t piece = 0;
  std::uint64_t rsp = 0;
  std::vector<std::uint64_t> interrupted;  // rsp
  bool in_system_call = false;
};

class MachineRun {
 public:
  MachineRun(TraceWriter& writer, std::mt19937_64& random) : writer_(writer), random_(random) {
    functions_.resize(1 + below(4));
    std::uint64_t address = kCode;
    for (Function& function : functions_) plan(function, address);
    for (Function& function : functions_)
      for (std::size_t i = 0; i < function.pieces.size(); ++i) finish(function, i);
    begin_thread();
  }

  void run(std::size_t length) {
    std::size_t now = 0;
    for (std::size_t i = 0; i < length; ++i) {
      if (one_in(4)) now = below(threads_.size());
      Running& thread = threads_[now];
      if (thread.frames.empty()) continue;
      between(thread);
      execute(thread);
    }
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::uint8_t reg() {  // any but the stack and frame pointers
    constexpr std::uint8_t kRegs[] = {0, 1, 2, 3, 6, 7};
    return kRegs[below(std::size(kRegs))];
  }
  static std::uint8_t rm(unsigned mode, unsigned reg, unsigned base) {
    return static_cast<std::uint8_t>(mode << 6 | reg << 3 | base);
  }

  // ---- Code ----

  void random_instruction(std::vector<Made>& body) {
    std::uint8_t a = reg(), b = reg();
    std::uint8_t both = rm(3, a, b), memory = rm(0, a, b);
    switch (below(17)) {
      case 0:
        return body.push_back({{0x48, 0xc7, rm(3, 0, a), 1, 0, 0, 0}});  // mov a,1
      case 1:
        return body.push_back({{0x48, 0x89, both}});
      case 2:
        return body.push_back({{0x89, both}});  // 32 bits
      case 3:
        return body.push_back({{0x88, rm(3, a & 3, b & 3)}});  // 8 bits
      case 4:
        return body.push_back({{0x48, 0x01, both}});  // add
      case 5:
        return body.push_back({{0x48, 0x39, both}});  // cmp
      case 6:
        return body.push_back({{0x31, rm(3, a, a)}});  // xor a,a
      case 7:
        return body.push_back({{0x48, 0x0f, 0x44, both}});  // cmove
      case 8:
        return body.push_back({{0x48, 0x8b, memory}});  // load
      case 9:
        return body.push_back({{0x48, 0x89, memory}});  // store
      case 10:
        return body.push_back({{0x8a, rm(0, a & 3, b)}});  // of a byte
      case 11:
        return body.push_back({{0x88, rm(0, a & 3, b)}});
      case 12:
        return body.push_back({{0x48, 0x01, memory}});  // add to memory
      case 13:
        return body.push_back({{0xf0, 0x48, 0x0f, 0xc1, memory}});  // lock xadd
      case 14:
        return body.push_back({{0x0f, 0x10, rm(0, below(2) & 1, b)}});  // 16 bytes
      case 15:
        return body.push_back({{0x0f, 0x11, rm(0, below(2) & 1, b)}});
      default:
        return body.push_back({{0xf3, 0xaa}});  // rep stosb
    }
  }

  // Saves registers in one of three ways; `enter`, or undoes it before a return.
  static void frame_code(std::vector<Made>& body, unsigned kind, bool enter) {
    if (kind == 1) {
      body.push_back(enter ? Made{{0x53}, Place::kPush} : Made{{0x5b}, Place::kPop});  // rbx
    } else if (kind == 2 && enter) {
      body.push_back({{0x55}, Place::kPush});                       // push rbp
      body.push_back({{0x48, 0x89, 0xe5}});                         // mov rbp,rsp
      body.push_back({{0x48, 0x83, 0xec, 0x10}, Place::kReserve});  // sub rsp,16
      body.push_back({{0x48, 0x89, 0x5d, 0xf8}, Place::kFrame});    // mov [rbp-8],rbx
    } else if (kind == 2) {
      body.push_back({{0x48, 0x8b, 0x5d, 0xf8}, Place::kFrame});  // mov rbx,[rbp-8]
      body.push_back({{0xc9}, Place::kLeave});
    }
  }

  void plan(Function& function, std::uint64_t& address) {
    unsigned kind = static_cast<unsigned>(below(3));
    function.pieces.resize(1 + below(6));
    for (std::size_t i = 0; i < function.pieces.size(); ++i) {
      Piece& piece = function.pieces[i];
      bool last = i + 1 == function.pieces.size();
      constexpr End kLast[] = {End::kReturn, End::kReturn,   End::kReturn,
                               End::kJump,   End::kTailCall, End::kIndirectJump};
      constexpr End kAny[] = {End::kBranch, End::kBranch,       End::kBranch, End::kBranch,
                              End::kCall,   End::kIndirectCall, End::kSystem, End::kReturn,
                              End::kJump,   End::kIndirectJump};
      piece.end = last ? kLast[below(std::size(kLast))] : kAny[below(std::size(kAny))];
      bool into = piece.end == End::kCall || piece.end == End::kTailCall;
      piece.target = below(into ? functions_.size() : function.pieces.size());
      std::vector<Made> body;
      if (i == 0) frame_code(body, kind, true);
      for (std::uint64_t n = below(5); n > 0; --n) random_instruction(body);
      if (one_in(4)) body.insert(body.end(), {{{0x51}, Place::kPush}, {{0x5a}, Place::kPop}});
      if (piece.end == End::kReturn || piece.end == End::kTailCall) frame_code(body, kind, false);
      body.push_back(end_code(piece.end));
      piece.address = address;
      for (const Made& made : body) {
        auto length = static_cast<std::uint8_t>(made.code.size());
        piece.block.instructions.push_back({Pc(address), length});
        piece.block.code.insert(piece.block.code.end(), made.code.begin(), made.code.end());
        piece.places.push_back(made.place);
        address += length;
      }
    }
    address += 16;
  }

  // The targets of direct ones are filled in when all addresses are known.
  static Made end_code(End end) {
    switch (end) {
      case End::kBranch:
        return {{0x0f, 0x84, 0, 0, 0, 0}};
      case End::kJump:
      case End::kTailCall:
        return {{0xe9, 0, 0, 0, 0}};
      case End::kIndirectJump:
        return {{0xff, 0xe0}};
      case End::kCall:
        return {{0xe8, 0, 0, 0, 0}, Place::kPush};
      case End::kIndirectCall:
        return {{0xff, 0xd0}, Place::kPush};
      case End::kReturn:
        return {{0xc3}, Place::kPop};
      case End::kSystem:
        return {{0x0f, 0x05}};
    }
    return {};
  }

  void finish(Function& function, std::size_t index) {
    Piece& piece = function.pieces[index];
    Block& block = piece.block;
    bool into = piece.end == End::kCall || piece.end == End::kTailCall;
    if (into || piece.end == End::kBranch || piece.end == End::kJump) {
      std::uint64_t target =
          into ? functions_[piece.target].pieces[0].address : function.pieces[piece.target].address;
      auto offset = static_cast<std::int32_t>(target - (piece.address + block.code.size()));
      std::memcpy(&block.code[block.code.size() - sizeof(offset)], &offset, sizeof(offset));
    }
    std::vector<InstrEffects> effects = decoder_.decode(block);
    for (std::size_t i = 0; i < block.size(); ++i)
      for (const MemoryOperand& operand : effects[i].memory)
        block.slots.push_back(Slot{.instruction = static_cast<std::uint16_t>(i),
                                   .size = operand.size,
                                   .write = operand.write});
    piece.id = writer_.add(block);
  }

  // ---- The run ----

  void begin_thread() {
    Running thread;
    thread.id = ThreadId(static_cast<std::uint32_t>(threads_.size() + 1));
    thread.rsp = thread.id.value * kStack;
    thread.frames.push_back({below(functions_.size()), 0, thread.rsp, false});
    if (!threads_.empty())
      writer_.event(threads_[0].id, ThreadCreate{.child = thread.id, .routine = Pc(kCode)});
    threads_.push_back(thread);
  }

  // What can happen before a thread goes on.
  void between(Running& thread) {
    if (thread.in_system_call) {
      if (one_in(2)) kernel(thread, Access::kWrite);
      if (one_in(12)) cut(thread);
      thread.in_system_call = false;
    }
    if (one_in(30)) {
      writer_.event(thread.id, Allocation{.address = Addr(kShared + 8 * below(4)), .size = 16});
    } else if (one_in(60)) {
      writer_.event(thread.id, Mapping{.address = Addr(kShared + 8 * below(4)), .size = 8});
    } else if (one_in(40)) {
      interrupt(thread, {.number = SIGUSR1, .pc = Pc(place_of(thread).address)});
    }
  }

  void interrupt(Running& thread, Signal signal) {
    std::size_t handler = below(functions_.size());
    signal.handler = Pc(functions_[handler].pieces[0].address);
    writer_.event(thread.id, signal);
    thread.interrupted.push_back(thread.rsp);
    thread.rsp -= 256;
    writer_.event(thread.id, KernelAccess{.address = Addr(thread.rsp), .size = 64});
    thread.frames.push_back({handler, thread.piece, thread.rsp, true});
    thread.piece = 0;
  }

  const Piece& place_of(const Running& thread) const {
    return functions_[thread.frames.back().function].pieces[thread.piece];
  }

  void kernel(const Running& thread, Access access) {
    KernelAccess kernel{
        .access = access, .address = Addr(kShared + below(kSharedBytes)), .size = 1 + below(12)};
    writer_.event(thread.id, kernel);
    writer_.event(thread.id, Transfer{.access = access,
                                      .channel = one_in(8) ? 0U : 1U + one_in(4),
                                      .position = below(kChannelBytes),
                                      .address = kernel.address,
                                      .size = 1 + below(kernel.size)});
  }

  void cut(const Running& thread) {
    writer_.event(thread.id, Transfer{.channel = 1, .position = below(kChannelBytes), .size = 8});
  }

  void execute(Running& thread) {
    const Piece& piece = place_of(thread);
    const Block& block = piece.block;
    std::uint64_t rsp = thread.rsp;
    std::vector<std::vector<std::uint64_t>> logged(block.size());
    std::size_t slot = 0;
    for (std::size_t i = 0; i < block.size(); ++i) {
      std::uint64_t at = place(thread, piece.places[i]);
      for (; slot < block.slots.size() && block.slots[slot].instruction == i; ++slot) {
        logged[i].push_back(at);
        if (block.slots[slot].is_range()) logged[i].push_back(below(12));
      }
    }
    writer_.run(thread.id);
    auto part = [&](std::size_t first, std::size_t end) {
      std::vector<std::uint64_t> all;
      for (std::size_t i = first; i < end; ++i)
        all.insert(all.end(), logged[i].begin(), logged[i].end());
      writer_.exec(
          piece.id,
          Part::of(block, static_cast<std::uint16_t>(first), static_cast<std::uint16_t>(end)),
          all.data(), nullptr);
    };
    std::size_t cut = one_in(8) ? below(block.size()) : 0;
    if (cut > 0) part(0, cut);
    if (cut > 0 && one_in(4)) {  // its handler mends what was wrong, and all is done again
      thread.rsp = rsp;
      return interrupt(thread,
                       {.number = SIGSEGV, .code = 1, .pc = block.instructions[cut - 1].pc});
    }
    part(cut, block.size());
    go_on(thread, piece);
  }

  std::uint64_t place(Running& thread, Place place) {
    std::uint64_t frame_pointer = thread.frames.back().slot - 8;
    switch (place) {
      case Place::kData:
        return kShared + below(kSharedBytes);
      case Place::kPush:
        return thread.rsp -= 8;
      case Place::kPop:
        return (thread.rsp += 8) - 8;
      case Place::kFrame:
        return frame_pointer - 8;
      case Place::kReserve:
        return thread.rsp -= 16;
      case Place::kLeave:
        thread.rsp = frame_pointer + 8;
        return frame_pointer;
    }
    return 0;
  }

  void go_on(Running& thread, const Piece& piece) {
    Frame& top = thread.frames.back();
    switch (piece.end) {
      case End::kBranch:
        thread.piece = one_in(2) ? piece.target : thread.piece + 1;
        break;
      case End::kJump:
        thread.piece = piece.target;
        break;
      case End::kIndirectJump:
        jump(thread);
        break;
      case End::kCall:
        call(thread, piece.target);
        break;
      case End::kIndirectCall:
        call(thread, below(functions_.size()));
        break;
      case End::kTailCall:
        top.function = piece.target;
        thread.piece = 0;
        break;
      case End::kReturn:
        leave(thread);
        break;
      case End::kSystem:
        writer_.event(thread.id, SyscallEnter{.number = static_cast<std::uint32_t>(below(6))});
        if (one_in(2)) kernel(thread, Access::kRead);
        thread.in_system_call = true;
        ++thread.piece;
        if (threads_.size() < kThreads && one_in(3)) begin_thread();
        break;
    }
  }

  void call(Running& thread, std::size_t function) {
    thread.frames.push_back({function, thread.piece + 1, thread.rsp, false});
    thread.piece = 0;
  }

  void leave(Running& thread) {
    Frame left = thread.frames.back();
    thread.frames.pop_back();
    thread.piece = left.back;
    if (!left.handler) return;
    writer_.event(thread.id, SignalReturn{});
    thread.rsp = thread.interrupted.back();
    thread.interrupted.pop_back();
  }

  // Inside of the function, or, like longjmp, back into one that waits for a call.
  void jump(Running& thread) {
    while (one_in(2) && thread.frames.size() > 1 && !thread.frames.back().handler)
      thread.frames.pop_back();
    const Frame& top = thread.frames.back();
    thread.rsp = top.slot - 64;
    thread.piece = below(functions_[top.function].pieces.size());
  }

  TraceWriter& writer_;
  std::mt19937_64& random_;
  Decoder decoder_;
  std::vector<Function> functions_;
  std::vector<Running> threads_;
};

}  // namespace

void random_machine_run(TraceWriter& writer, std::mt19937_64& random, std::size_t length) {
  MachineRun(writer, random).run(length);
}

}  // namespace svd::test
