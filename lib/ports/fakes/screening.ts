import type { ScreeningSource, ScreeningState, ScreeningVerdict } from "../screening";

export interface FakeScreening extends ScreeningSource {
  /** Sets what the source says of an address from now on. */
  set(address: string, state: ScreeningState): void;
  /** From now on the source does not answer. */
  breakDown(): void;
  recover(): void;
  /** How many calls of `screen` there were. */
  readonly calls: number;
}

/** A source whose verdicts a test sets; every other address is `otherwise`. */
export const createFakeScreening = ({
  name = "fake",
  otherwise = "clear",
}: { readonly name?: string; readonly otherwise?: ScreeningState } = {}): FakeScreening => {
  const known = new Map<string, ScreeningState>();
  let isDown = false;
  let calls = 0;
  return {
    name,
    isActive: () => Promise.resolve(true),
    screen: (addresses, signal) => {
      calls += 1;
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      const at = new Date();
      const stateOf = (address: string): ScreeningState =>
        isDown ? "unavailable" : (known.get(address.toLowerCase()) ?? otherwise);
      return Promise.resolve(
        addresses.map(({ address }): ScreeningVerdict => ({
          state: stateOf(address),
          source: name,
          listVersion: null,
          at,
        })),
      );
    },
    set: (address, state) => void known.set(address.toLowerCase(), state),
    breakDown: () => void (isDown = true),
    recover: () => void (isDown = false),
    get calls() {
      return calls;
    },
  };
};
