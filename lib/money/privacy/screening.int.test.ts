/** Private operations whose recipient is listed after they were accepted. */
import { expect, test, vi } from "vitest";
import type { Address } from "viem";
import { importList } from "@/lib/trust/screening/import-list";
import { testAccount } from "@/lib/dev/testing/factories";
import { privateMoney } from "@/lib/dev/testing/private-money";
import { privatePayments } from "@/lib/dev/testing/private-payments";
import { createListSigner, listContent } from "@/lib/dev/testing/screening-list";

const money = await privateMoney();
const { services, transactions, chainId } = money;
const { database, clock, screening } = services;
const { walletWith, operationOf, paidTo, pay } = await privatePayments(money);
const signer = createListSigner();

/** Imports a list, and waits until this instance uses it. */
const list = async (address: Address): Promise<void> => {
  const text = signer.file(listContent({ list: "ofac", entries: [{ address }] }));
  await importList({ database, keys: signer.keys, clock }, { text, by: "test" });
  await vi.waitFor(
    async () => {
      const found = await screening.screen([{ address, chainId }], { mode: "block_hits" });
      expect(found?.stopped).toHaveLength(1);
    },
    { timeout: 30_000, interval: 200 },
  );
};

const noteOf = async (operationId: string): Promise<string> => {
  const { projectId } = await database.prisma.operation.findUniqueOrThrow({
    where: { id: operationId },
  });
  const [step] = await money.stepsOf({ projectId, operationId });
  if (step === undefined) throw new Error("The operation has no step.");
  return step.noteId;
};

test("a private payment whose recipient is listed before it is proved sends nothing, and its note can be spent", async () => {
  const [listed, other] = [testAccount().address, testAccount().address];
  const wallet = await walletWith("100");
  const stopped = await pay(wallet, "40", listed);
  await list(listed);
  await money.settle(stopped.operationId);
  const ended = await operationOf(stopped.operationId);
  expect(ended).toMatchObject({
    status: "failed",
    failure: { code: "screening_refused", retryable: false },
  });
  expect(ended.failure?.message).toContain("list:ofac version 1");
  expect(
    [...transactions.stored.keys()].filter((purpose) => purpose.includes(stopped.operationId)),
  ).toEqual([]);
  expect(paidTo(listed)).toBe(0n);
  const records = await database.prisma.screeningRecord.findMany({
    where: { subjectId: stopped.operationId },
  });
  expect(records).toMatchObject([{ phase: "sign", outcome: "stopped" }]);

  const again = await pay(wallet, "40", other);
  expect(await noteOf(again.operationId)).toBe(await noteOf(stopped.operationId));
  await money.settle(again.operationId);
  expect(await operationOf(again.operationId)).toMatchObject({ status: "completed" });
  expect(paidTo(other)).toBe(40_000_000n);
});
