import { describe, expect, test } from "vitest";
import { proofShare, sceneKindOf, sentenceOf, stageOf, type Progress } from "./stage";

const step = (state: Progress["steps"][number]["state"]) => ({
  ...{ state, withdrawn: "1", txHash: null, waits: null, failure: null },
});
const transfer = (change: Partial<Progress>): Progress => ({
  kind: "private_transfer",
  status: "processing",
  subStatus: "proving",
  steps: [step("queued")],
  ...change,
});

describe("the stage of an operation", () => {
  test("follows its steps: nothing is on the chain before the first is sent", () => {
    expect(stageOf(transfer({ status: "pending", subStatus: "awaiting_approval" }))).toBe(
      "waiting",
    );
    expect(stageOf(transfer({}))).toBe("proving");
    // Pending until its first proof is kept, so that it can be cancelled.
    expect(stageOf(transfer({ status: "pending" }))).toBe("proving");
    expect(stageOf(transfer({ status: "pending", subStatus: "prepared" }))).toBe("waiting");
    expect(stageOf(transfer({ steps: [step("proved")] }))).toBe("proving");
    expect(stageOf(transfer({ steps: [step("completed"), step("queued")] }))).toBe("sent");
    expect(stageOf(transfer({ status: "completed", subStatus: "full" }))).toBe("completed");
    expect(stageOf(transfer({ status: "cancelled" }))).toBe("ended");
  });

  test("of the treasury's own moves is `sent` once the treasury sent them", () => {
    expect(stageOf(transfer({ kind: "shield", subStatus: "queued", steps: [] }))).toBe(
      "waiting",
    );
    expect(
      stageOf(transfer({ kind: "shield", subStatus: "source_submitted", steps: [] })),
    ).toBe("sent");
  });
});

test("a transfer to a private wallet stays inside", () => {
  expect(sceneKindOf({ kind: "private_transfer", toPrivacyWalletId: "pw_2" })).toBe("inside");
  expect(sceneKindOf({ kind: "private_transfer", toPrivacyWalletId: null })).toBe("transfer");
  expect(sceneKindOf({ kind: "private_swap", toPrivacyWalletId: "pw_1" })).toBe("swap");
});

test("a proof's bar grows with the time, and is never full before the proof is made", () => {
  const proof = { startedAt: "2026-01-01T00:00:00.000Z", secondsLeft: 6 };
  const at = (seconds: number, secondsLeft: number) =>
    proofShare({ ...proof, secondsLeft }, Date.parse(proof.startedAt) + seconds * 1000);
  expect(at(0, 6)).toBe(0);
  expect(at(3, 3)).toBe(0.5);
  expect(at(600, 1)).toBe(0.97);
  // A clock of the browser that is behind the service's.
  expect(at(-5, 6)).toBe(0);
});

test("the sentence names what happens now and where the money is", () => {
  const outcome = { sentence: "The service's own words.", holds: [], nextAction: "" };
  const say = (
    change: Partial<Progress>,
    proof: { startedAt: string; secondsLeft: number } | null = null,
  ) => sentenceOf({ ...transfer(change), proof, outcome });
  expect(say({ status: "pending", subStatus: "awaiting_approval" })).toBe(outcome.sentence);
  expect(say({ status: "pending" })).toBe("Waiting for the prover.");
  expect(say({})).toBe("Waiting for the prover.");
  expect(say({}, { startedAt: "", secondsLeft: 1 })).toBe("Making the proof.");
  expect(say({ steps: [step("completed"), step("proved")] })).toBe(
    "The proof is made and is about to be sent. 1 of 2 notes are done.",
  );
  expect(say({ steps: [step("submitted")] })).toBe("Sent, waiting for confirmations.");
  for (const status of ["completed", "failed", "expired", "cancelled"] as const)
    expect(say({ status })).toBe(outcome.sentence);
});
