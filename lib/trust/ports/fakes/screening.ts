import type { ScreeningSource, ScreeningState, ScreeningVerdict } from "../screening";

export interface FakeScreening extends ScreeningSource {
  /** Sets the source's verdict about an address. */
  set(address: string, state: ScreeningState): void;
  /** Makes the source fail from now on. */
  breakDown(): void;
  recover(): void;
  readonly calls: number;
}

/** A source whose verdicts the test sets; all other addresses get `otherwise`. */
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
