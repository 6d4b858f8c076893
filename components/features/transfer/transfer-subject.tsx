import { z } from "zod";
import { codeOf, extraOf } from "@/components/features/money-flow/api-error";
import type { MoveSubject } from "@/components/features/money-flow/types";
import { quoteRecord } from "@/lib/contracts/quote-records";
import { createTransfer } from "@/lib/contracts/transfers";
import type { RecipientView } from "./recipient";
import { TransferReceipt, type TransferTerms } from "./transfer-receipt";
import type { TransferRecord } from "./use-transfer";

const knownAddress = z.object({ address: z.string(), name: z.string(), as: z.enum(["own", "contact", "earlier"]) });

/** The names of both sides of a transfer, as people see them. */
interface Names {
  readonly fromName: string;
  readonly recipient: RecipientView;
}

/** When the price moved the service makes another transfer, and says what it is as a quote. */
const movedTransfer = (error: unknown, names: Names): MoveSubject | null => {
  if (codeOf(error) !== "quote_price_moved") return null;
  const parsed = quoteRecord.safeParse(extraOf(error, "quote"));
  const transferId = extraOf(error, "transferId");
  const source = parsed.data?.from[0];
  if (!parsed.success || source === undefined || typeof transferId !== "string") return null;
  const { to, fees, steps, estimatedSeconds, expiresAt } = parsed.data;
  const terms = {
    ...names,
    fromAddress: source.address,
    fromChainId: source.chainId,
    sent: source,
    fees,
    steps,
    estimatedSeconds,
  };
  return subjectOf({ transferId, to, expiresAt, terms }, names);
};

interface Parts {
  readonly transferId: string;
  readonly to: MoveSubject["to"];
  readonly expiresAt: string | null;
  readonly terms: TransferTerms;
}

const subjectOf = ({ transferId, to, expiresAt, terms }: Parts, names: Names): MoveSubject => ({
  ids: { transferId },
  noun: "transfer",
  sources: 1,
  to,
  expiresAt,
  receipt: (priced) => <TransferReceipt terms={terms} to={priced} />,
  movedTo: (error) => movedTransfer(error, names),
});

/** A transfer, as the flow that approves and executes it takes it. */
export const subjectOfTransfer = (transfer: TransferRecord, names: Names): MoveSubject => {
  const { transferId, toAddress, expected, minimum, expiresAt } = transfer;
  const to = { address: toAddress, amount: expected.amount, minAmount: minimum.amount, token: expected.token };
  const subject = subjectOf({ transferId, to, expiresAt, terms: { ...transfer, ...names } }, names);
  return { ...subject, stored: { transfer, names } };
};

const storedTransfer = z.object({
  transfer: createTransfer.response,
  names: z.object({
    fromName: z.string(),
    recipient: z.discriminatedUnion("as", [
      z.object({ as: z.literal("none") }),
      z.object({ as: z.literal("new"), address: z.string(), name: z.null(), lookAlike: knownAddress.nullable() }),
      z.object({
        as: z.enum(["own", "contact", "earlier"]),
        address: z.string(),
        name: z.string(),
        lookAlike: knownAddress.nullable(),
      }),
    ]),
  }),
});

/** As `reviveQuote` of the swap page. */
export const reviveTransfer = (
  stored: unknown,
  wallets: readonly { readonly address: string }[],
): MoveSubject | null => {
  const { data } = storedTransfer.safeParse(stored);
  const isOwn = wallets.some(({ address }) => address === data?.transfer.fromAddress);
  return data !== undefined && isOwn ? subjectOfTransfer(data.transfer, data.names) : null;
};
