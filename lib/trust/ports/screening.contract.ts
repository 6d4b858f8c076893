import { describe, expect, test } from "vitest";
import type { ScreenedAddress, ScreeningSource } from "./screening";

interface ScreeningSetUp {
  readonly source: ScreeningSource;
  readonly listed: ScreenedAddress;
  readonly clear: ScreenedAddress;
  breakDown(): Promise<void>;
}

const upperCased = ({ address, chainId }: ScreenedAddress): ScreenedAddress => ({
  address: `0x${address.slice(2).toUpperCase()}`,
  chainId,
});

/** Contract tests that every adapter of the screening port, and its fake, must pass. */
export const screeningContract = (name: string, setUp: () => Promise<ScreeningSetUp>): void => {
  const signal = () => AbortSignal.timeout(30_000);

  describe(`${name} keeps the contract of screening`, () => {
    test("answers once for each address, in their order, whatever the case of its letters", async () => {
      const { source, listed, clear } = await setUp();
      const asked = [clear, listed, upperCased(listed), clear, upperCased(clear)];
      const states = (await source.screen(asked, signal())).map(({ state }) => state);
      expect(states).toEqual(["clear", "hit", "hit", "clear", "clear"]);
      expect(await source.isActive()).toBe(true);
    });

    test("names itself, the version and the time in each verdict", async () => {
      const { source, listed } = await setUp();
      const [verdict] = await source.screen([listed], signal());
      expect(verdict?.source).not.toBe("");
      expect(verdict?.at).toBeInstanceOf(Date);
      expect(verdict).toHaveProperty("listVersion");
    });

    test("answers for thousands of addresses in one call, and for none", async () => {
      const { source, listed, clear } = await setUp();
      const many = Array.from({ length: 2_500 }, (_, index) =>
        index === 1_234 ? listed : clear,
      );
      const verdicts = await source.screen(many, signal());
      expect(verdicts).toHaveLength(many.length);
      expect(verdicts.flatMap(({ state }, index) => (state === "hit" ? [index] : []))).toEqual([
        1_234,
      ]);
      expect(await source.screen([], signal())).toEqual([]);
    });

    test("never says clear while it is down", async () => {
      const { source, listed, clear, breakDown } = await setUp();
      await breakDown();
      const states = (await source.screen([listed, clear], signal())).map(({ state }) => state);
      expect(states).toEqual(["unavailable", "unavailable"]);
    });

    test("rejects when the caller gives up", async () => {
      const { source, clear } = await setUp();
      await expect(
        source.screen([clear], AbortSignal.abort(new Error("given up"))),
      ).rejects.toThrow("given up");
    });
  });
};
