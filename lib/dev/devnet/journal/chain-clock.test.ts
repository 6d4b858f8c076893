import { expect, test } from "vitest";
import { createChainClock } from "./chain-clock";

const clockAt = (time: number) => {
  const ours = { time };
  return { ours, clock: createChainClock(() => ours.time) };
};

test("a block has our time, and never one before the block before it", () => {
  const { ours, clock } = clockAt(1_000);
  expect(clock.next()).toBe(1_000);
  ours.time = 990;
  expect(clock.next()).toBe(1_000);
});

test("time that was moved on stays ahead, also in another process", () => {
  const { ours, clock } = clockAt(1_000);
  clock.follow(["evm_increaseTime", ["0x64"]]);
  expect(clock.next()).toBe(1_100);
  ours.time = 1_010;
  expect(clock.next()).toBe(1_110);
  const other = clockAt(1_020);
  other.clock.reset({ offset: clock.offset(), last: 1_110 });
  expect(other.clock.next()).toBe(1_120);
});

test("a time that was set counts for the next block, and goes on from there", () => {
  const { ours, clock } = clockAt(1_000);
  clock.follow(["evm_setNextBlockTimestamp", [5_000]]);
  expect(clock.next()).toBe(5_000);
  ours.time = 1_001;
  expect(clock.next()).toBe(5_001);
});

test("a clock is set back as far as the latest block allows", () => {
  const { clock } = clockAt(1_000);
  clock.reset({ offset: 500, last: 1_400 });
  clock.follow(["anvil_setTime", [1_200]]);
  expect(clock.next()).toBe(1_400);
  expect(clock.offset()).toBe(200);
});
