import type { z } from "zod";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { listDust } from "@/lib/contracts/deposits";
import type { depositRecord } from "@/lib/contracts/deposit-records";
import { shownChain, type ChainFacts } from "@/lib/chain/shown-chain";
import { formatAmount } from "@/lib/core/money";
import { isShown } from "./deposit";
import type { DepositView, DustView } from "./view";
import { toAmountRecord } from "@/lib/core/token";

const USD_DECIMALS = 6;

type DepositRecord = z.output<typeof depositRecord>;

export const toDeposit = (
  { deposit, token, seenNumber, mayRelease }: DepositView,
  chains: ChainFacts,
): DepositRecord => {
  const { confirmations, explorerUrl } = shownChain(chains, deposit.chainId);
  const needed = confirmations ?? 1;
  const deep = Number(seenNumber - deposit.blockNumber) + 1;
  const isDecided = deposit.state === "credited" || deposit.state === "released";
  const { verdict, screenedAt, decidedBy, decidedReason, decidedAt, usdMicro } = deposit;
  return {
    id: deposit.id,
    state: isShown(deposit.state) ? deposit.state : "pending",
    sender: deposit.sender,
    walletId: deposit.walletId,
    walletAddress: deposit.walletAddress,
    chainId: deposit.chainId,
    received: toAmountRecord(token, deposit.amountBase),
    usd: usdMicro === null || !isDecided ? null : formatAmount(usdMicro, USD_DECIMALS),
    txHash: deposit.txHash,
    blockNumber: deposit.blockNumber.toString(),
    confirmations: isDecided ? needed : Math.max(0, Math.min(needed, deep)),
    confirmationsNeeded: needed,
    explorerUrl:
      deposit.txHash === null || explorerUrl === undefined
        ? null
        : `${explorerUrl}/tx/${deposit.txHash}`,
    screening:
      verdict === null || screenedAt === null
        ? null
        : {
            verdict,
            source: deposit.verdictSource,
            listVersion: deposit.listVersion,
            at: screenedAt.toISOString(),
          },
    decision:
      decidedBy === null || decidedAt === null
        ? null
        : { by: decidedBy, reason: decidedReason ?? "", at: decidedAt.toISOString() },
    may: { release: mayRelease },
    detectedAt: deposit.detectedAt.toISOString(),
    updatedAt: deposit.updatedAt.toISOString(),
  };
};

export const toDust = (sums: readonly DustView[]): ResponseOf<typeof listDust> => ({
  data: sums.map(({ sum, token }) => ({
    walletId: sum.walletId,
    walletAddress: sum.walletAddress,
    chainId: sum.chainId,
    count: sum.count,
    total: toAmountRecord(token, sum.totalBase),
    lastAt: sum.lastAt.toISOString(),
  })),
});

/** The deposit as the API returns it; null for an operation that is not a deposit. */
export const toDepositOrNull = (
  view: DepositView | undefined,
  chains: ChainFacts,
): DepositRecord | null => (view === undefined ? null : toDeposit(view, chains));
