import fc from "fast-check";
import { keccak256, type Address, type Hex } from "viem";
import { afterAll, expect, test } from "vitest";
import {
  consentUntil,
  MARKER,
  NO_CONSENT,
  OTHER_MARKER,
  OWNER,
  startPaymasterChain,
  STRANGER,
} from "@/lib/dev/testing/paymaster-chain";

const { client, entryPoint, stop, as, validate, depositInfo, now } =
  await startPaymasterChain(41_346);
afterAll(stop);

const HASHES: Hex[] = ["0x01", "0x02", "0x03"].map((seed) => keccak256(seed as Hex));

/** A minimal model of the contract. */
interface Model {
  readonly markers: Set<Address>;
  readonly until: Map<Hex, number>;
}

const mayMark = (model: Model, from: Address): boolean => model.markers.has(from);

type Step = (model: Model) => Promise<{ expected: unknown; actual: unknown }>;

const somebody = fc.constantFrom(OWNER, MARKER, OTHER_MARKER, STRANGER, entryPoint);
const someHashes = fc.subarray(HASHES);
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({ from: somebody, marker: somebody, allowed: fc.boolean() })
    .map(({ from, marker, allowed }) => async (model: Model) => {
      const isOwner = from === OWNER;
      if (isOwner) model.markers[allowed ? "add" : "delete"](marker);
      return {
        expected: isOwner ? "done" : "NotOwner",
        actual: await as(from, "setMarker", [marker, allowed]),
      };
    }),
  fc
    .record({
      from: somebody,
      hashes: someHashes,
      seconds: fc.integer({ min: -60, max: 3_600 }),
    })
    .map(({ from, hashes, seconds }) => async (model: Model) => {
      // A second or two pass between reading the clock and mining the block.
      const until = (await now()) + (Math.abs(seconds) < 10 ? 10 : seconds);
      const actual = await as(from, "mark", [hashes, until]);
      if (!mayMark(model, from)) return { expected: "NotMarker", actual };
      if (seconds <= -10) return { expected: "MarkExpired", actual };
      for (const hash of hashes) model.until.set(hash, until);
      return { expected: "done", actual };
    }),
  fc
    .record({ from: somebody, hashes: someHashes })
    .map(({ from, hashes }) => async (model: Model) => {
      const isAllowed = from === OWNER || mayMark(model, from);
      if (isAllowed) for (const hash of hashes) model.until.delete(hash);
      return {
        expected: isAllowed ? "done" : "NotMarker",
        actual: await as(from, "unmark", [hashes]),
      };
    }),
  fc
    .record({ from: somebody, hashes: someHashes })
    .map(({ from, hashes }) => async (model: Model) => ({
      // The marks of `handleMarkedOps` must end with the call. A remaining mark would show in
      // `validate` below.
      expected: mayMark(model, from) ? "done" : "NotMarker",
      actual: await as(from, "handleMarkedOps", [[], STRANGER, hashes]),
    })),
  fc
    .record({
      from: fc.constantFrom(entryPoint, entryPoint, STRANGER, MARKER),
      hash: fc.constantFrom(...HASHES),
    })
    .map(({ from, hash }) => async (model: Model) => {
      const actual = await validate(from, hash);
      if (from !== entryPoint) return { expected: "NotEntryPoint", actual };
      const until = model.until.get(hash);
      model.until.delete(hash);
      return { expected: until === undefined ? NO_CONSENT : consentUntil(until), actual };
    }),
);

test("whoever does whatever in whatever order, only what a marker marked is honoured, and once", async () => {
  const before = await depositInfo();
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 25 }), async (all) => {
      const clean = await client.snapshot();
      const model: Model = { markers: new Set([MARKER]), until: new Map() };
      for (const step of all) {
        const { expected, actual } = await step(model);
        expect(actual).toEqual(expected);
      }
      for (const hash of HASHES) {
        const until = model.until.get(hash);
        expect(await validate(entryPoint, hash)).toBe(
          until === undefined ? NO_CONSENT : consentUntil(until),
        );
      }
      expect(await depositInfo()).toEqual(before);
      await client.revert({ id: clean });
    }),
    { numRuns: 30 },
  );
});
