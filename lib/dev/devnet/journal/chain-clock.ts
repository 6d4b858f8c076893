import { z } from "zod";
import { plainName } from "./calls";
import type { NodeCall } from "./record";

const quantity = z
  .union([z.number(), z.string().regex(/^(0x[0-9a-f]+|\d+)$/i)])
  .transform(Number);

export interface ChainClock {
  /** Seconds by which the chain is ahead of this machine's clock. */
  offset(): number;
  /** The time of a block that is made now, in Unix seconds; never before the previous block. */
  next(): number;
  /** Advances the time by this number of seconds. */
  increase(seconds: number): void;
  /**
   * Carries out one of anvil's time methods (`evm_increaseTime` and the like).
   * @throws ZodError when its parameter is not a number
   */
  follow(call: NodeCall): void;
  /** Sets the clock to a chain that was just loaded. */
  reset(to: { readonly offset: number; readonly last: number }): void;
}

/**
 * The clock of one chain, equal to anvil's own. It is tracked here because a block's time must be
 * journaled before the block is made.
 */
export const createChainClock = (now = () => Math.floor(Date.now() / 1000)): ChainClock => {
  let offset = 0;
  let last = 0;
  let exact: number | null = null;
  const increase = (seconds: number): void => {
    offset += seconds;
  };
  return {
    offset: () => offset,
    increase,
    next: () => {
      if (exact !== null) offset = exact - now();
      last = Math.max(last, exact ?? now() + offset);
      exact = null;
      return last;
    },
    follow: ([method, [first]]) => {
      const value = quantity.parse(first);
      const name = plainName(method);
      if (name === "increaseTime") increase(value);
      // Some tools send milliseconds, which anvil accepts too.
      else if (name === "setTime")
        offset = (value > 1e11 ? Math.floor(value / 1000) : value) - now();
      else exact = value;
    },
    reset: (to) => {
      ({ offset, last } = to);
      exact = null;
    },
  };
};
