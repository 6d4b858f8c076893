import { expect, test } from "vitest";
import { EMPTY_PRIVATE_TRANSFER } from "@/lib/dev/testing/private-transfer";
import type { PrivateStep } from "./rows";
import type { TransferView } from "./read-transfers";
import { toPrivateTransfer } from "./serializer";

const SENT_AT = new Date("2026-01-01T00:00:00Z");
const MINUTE_MS = 60_000;
const usdc = {
  ...{
    symbol: "USDC",
    name: "USD Coin",
    chainId: 1,
    address: "native",
    decimals: 6,
    assetId: "usdc",
    usdPegged: true,
  },
} as const;

const viewWith = (state: PrivateStep["state"]): TransferView =>
  ({
    transfer: {
      ...EMPTY_PRIVATE_TRANSFER,
      token: usdc,
      tokenOut: usdc,
      amountBase: 1n,
      createdAt: SENT_AT,
    },
    operation: {
      kind: "unshield",
      status: "processing",
      subStatus: "source_submitted",
      legs: [],
      gasWaits: [],
      quoted: {},
      request: { sources: [], destination: {} },
      updatedAt: SENT_AT,
      expiresAt: null,
      failure: null,
    },
    steps: [
      {
        state,
        withdrawBase: 1n,
        txHash: "0xaa",
        failure: null,
        receivedBase: null,
        provingSince: null,
        updatedAt: SENT_AT,
      },
    ],
    expectedProofMs: 1,
    engine: "test",
    swapVenue: "test exchange",
    anonymitySet: null,
  }) as unknown as TransferView;

const waitsAfter = (state: PrivateStep["state"], minutes: number) =>
  toPrivateTransfer(viewWith(state), {
    registry: { find: () => null },
    clock: { now: () => new Date(SENT_AT.getTime() + minutes * MINUTE_MS) },
  }).steps[0]?.waits;

test("a step that was sent says since when it waits, and after a quarter of an hour what a person should look at", () => {
  expect(waitsAfter("submitted", 1)).toMatchObject({ since: SENT_AT.toISOString() });
  expect(waitsAfter("submitted", 1)?.nextAction).toMatch(/^Nothing to do/);
  expect(waitsAfter("submitted", 16)?.nextAction).toMatch(
    /The money is in the note.*Do not send it again/,
  );
});

test.each(["queued", "proved", "completed", "failed"] as const)(
  "a step that is %s waits for no transaction",
  (state) => {
    expect(waitsAfter(state, 60)).toBeNull();
  },
);
