import type { QuotedFlow } from "@/components/features/flow-picture/quote-picture";
import type { MovePromise } from "@/components/features/money-flow/types";
import type { createTransfer } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type TransferRecord = ResponseOf<typeof createTransfer>;

export const destinationOf = (transfer: TransferRecord): MovePromise["to"] => ({
  address: transfer.toAddress,
  chainId: transfer.toChainId,
  amount: transfer.expected.amount,
  minAmount: transfer.minimum.amount,
  token: transfer.expected.token,
});

type TransferFlow = Pick<QuotedFlow, "steps"> & {
  readonly fromAddress: string;
  readonly fromChainId: number;
  readonly sent: { readonly amount: string; readonly token: { readonly symbol: string } };
  readonly estimatedSeconds: number;
};

/** Shows a transfer as a quote with one source, and with the steps and venues of its route. */
export const pictureOf = (transfer: TransferFlow, to: QuotedFlow["to"]): QuotedFlow => ({
  from: [
    {
      address: transfer.fromAddress,
      chainId: transfer.fromChainId,
      amount: transfer.sent.amount,
      token: transfer.sent.token,
      expectedOut: to.amount,
      estimatedSeconds: transfer.estimatedSeconds,
    },
  ],
  to,
  steps: transfer.steps,
});
