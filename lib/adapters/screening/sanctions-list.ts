/** Screens against sanctions lists that an operator has imported (`npm run screening:import`). */
import type { Clock } from "@/lib/core/clock";
import type { ScreeningSource, ScreeningVerdict } from "@/lib/trust/ports/screening";

export interface LoadedList {
  readonly name: string;
  readonly version: number;
  readonly validUntil: Date;
  /** In lower case. */
  readonly addresses: ReadonlySet<string>;
}

export interface SanctionsLists {
  /**
   * The newest version of every list. The answer may be cached for a few seconds.
   * @throws Error when they cannot be read
   */
  current(): Promise<readonly LoadedList[]>;
}

/**
 * Looks up addresses in every imported list. An outdated list still stops its addresses, but clears
 * no address. Without lists, no address is covered.
 */
export const createListScreening = ({
  lists,
  clock,
}: {
  readonly lists: SanctionsLists;
  readonly clock: Clock;
}): ScreeningSource => {
  const verdictOf = (
    all: readonly LoadedList[],
    address: string,
    at: Date,
  ): ScreeningVerdict => {
    const of = (state: ScreeningVerdict["state"], list: LoadedList): ScreeningVerdict => ({
      state,
      source: `list:${list.name}`,
      listVersion: String(list.version),
      at,
    });
    const listing = all.find(({ addresses }) => addresses.has(address));
    if (listing !== undefined) return of("hit", listing);
    const stale = all.find(({ validUntil }) => validUntil <= at);
    if (stale !== undefined) return of("unavailable", stale);
    const [first] = all;
    return first === undefined
      ? { state: "not_covered", source: "list", listVersion: null, at }
      : {
          state: "clear",
          source: `list:${all.map(({ name }) => name).join("+")}`,
          listVersion: all.map(({ version }) => String(version)).join("+"),
          at,
        };
  };

  return {
    name: "list",
    // Active even when the lists cannot be read, so that the verdict is then `unavailable`.
    isActive: () =>
      lists.current().then(
        (all) => all.length > 0,
        () => true,
      ),
    screen: async (addresses, signal) => {
      signal.throwIfAborted();
      const all = await lists.current().catch(() => null);
      signal.throwIfAborted();
      const at = clock.now();
      return addresses.map(({ address }) =>
        all === null
          ? { state: "unavailable", source: "list", listVersion: null, at }
          : verdictOf(all, address.toLowerCase(), at),
      );
    },
  };
};
