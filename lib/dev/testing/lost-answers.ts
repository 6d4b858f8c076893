import { expect } from "vitest";
import type { Contract } from "@/lib/contracts/contract";
import type { Database } from "@/lib/platform/db/client";
import { isIdempotent } from "@/lib/http/idempotency";

/** For each reason, the POSTs whose repetition does not find the first result. */
const NOT_REPEATED: Readonly<Record<string, readonly string[]>> = {
  "It makes another one, which a list shows; no money depends on it": [
    "createPrivacyWallet",
    "createWebhookEndpoint",
    "createApiKey",
    "createInvitation",
    "createProject",
    "createExport",
  ],
  "It prices, tries, mails or sends anew": [
    "createQuote",
    "quotePrivateSwap",
    "initWalletLink",
    "requestOtp",
    "requestDecisionCode",
    "requestDecisionsCode",
    "testWebhookEndpoint",
    "resendDelivery",
  ],
  "The session has ended": ["logout"],
};

/** Changes whose repetition is refused, because the record shows that the change was made. */
const REFUSED_AGAIN: ReadonlySet<string> = new Set([
  "addPasskey",
  "createNotificationChannel",
  "preparePrivateSwap",
  "removeMember",
  "removePasskey",
  "removeTotp",
  "restoreMadeThings",
  "resumeJob",
  "retryOperation",
  "retryPayout",
  "rotateWebhookSecret",
  "rotateApiKey",
  "startPasskey",
  "verifyEmail",
  "verifyWalletLink",
]);

const notRepeated: ReadonlySet<string> = new Set(Object.values(NOT_REPEATED).flat());

/** Whether the operation is repeated after a lost answer. */
export const isRepeatable = (contract: Contract, operationId: string): boolean =>
  isIdempotent(contract) && !notRepeated.has(operationId);

const ID = /^[a-z]+_[0-9a-f]{8}-/;

/** The ids in the top level of an answer. */
const idsOf = (answer: Readonly<Record<string, unknown>>): string[] =>
  Object.values(answer)
    .filter((value) => typeof value === "string" && ID.test(value))
    .map(String)
    .toSorted();

/**
 * Deletes the HTTP layer's data about a key, as if its process had died before it stored the
 * answer.
 */
export const forgetIn =
  ({ prisma }: Pick<Database, "prisma">) =>
  async (key: string): Promise<void> => {
    expect(await prisma.idempotencyKey.deleteMany({ where: { key } })).toEqual({ count: 1 });
  };

type Send = () => Promise<{
  status: number;
  answer: Record<string, unknown>;
  isReplayed: boolean;
}>;

/**
 * Repeats a request with and without its stored answer. The repetition must find the first result
 * or be refused, and the change must be made only once.
 * @param forget deletes the stored answer
 */
export const checkRepeats = async (
  operationId: string,
  first: Readonly<Record<string, unknown>>,
  { again, forget }: { again: Send; forget: () => Promise<void> },
): Promise<void> => {
  const replay = await again();
  expect([operationId, replay.isReplayed, replay.answer]).toEqual([operationId, true, first]);
  await forget();
  const { status, answer, isReplayed } = await again();
  const found = {
    operationId,
    isReplayed,
    isRefused: status >= 400,
    ids: status >= 400 ? [] : idsOf(answer),
  };
  const isRefused = REFUSED_AGAIN.has(operationId);
  expect(found, JSON.stringify(answer)).toEqual({
    operationId,
    isReplayed: false,
    isRefused,
    ids: isRefused ? [] : idsOf(first),
  });
};
