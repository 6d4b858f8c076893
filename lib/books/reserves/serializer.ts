import type { ResponseOf } from "@/lib/contracts/contract";
import type { getReserves, getReservesProof } from "@/lib/contracts/reserves";
import { formatAmount } from "@/lib/core/money";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import type { Reserves, ReservesService } from "./service";
import type { SumTree } from "./sum-trees";

type Body = ResponseOf<typeof getReserves>["data"][number];
type Proof = Awaited<ReturnType<ReservesService["proofOf"]>>;

const units = (base: bigint): string => formatAmount(base, LEDGER_DECIMALS);

export const toReserves = (
  { asset, positions, onChainBase, committedBase, liabilitiesBase, inTransitBase }: Reserves,
  tree: SumTree,
): Body => {
  const availableBase = onChainBase - committedBase - liabilitiesBase;
  return {
    currency: asset.symbol,
    assetId: asset.assetId,
    decimals: LEDGER_DECIMALS,
    liabilities: units(liabilitiesBase),
    inTransit: units(inTransitBase),
    onChain: units(onChainBase),
    committed: units(committedBase),
    available: units(availableBase > 0n ? availableBase : 0n),
    covered: availableBase >= 0n,
    chains: positions.map(({ token, wallet, backs, finalBase, blockNumber, at }) => ({
      chainId: token.chainId,
      wallet,
      amount: formatAmount(finalBase ?? 0n, token.decimals),
      blockNumber: blockNumber.toString(),
      at: at.toISOString(),
      stale: finalBase === null,
      backs,
    })),
    root:
      tree.root === null
        ? null
        : {
            hash: tree.root.hash,
            sumBase: tree.root.sum.toString(),
            accounts: tree.accounts,
            asOf: tree.asOf.toISOString(),
          },
  };
};

export const toProof = (
  currency: { currency: string; assetId: string },
  proof: Proof,
): ResponseOf<typeof getReservesProof> => ({
  version: 1,
  ...currency,
  decimals: LEDGER_DECIMALS,
  accountId: proof.accountId,
  balanceBase: proof.balanceBase.toString(),
  salt: proof.salt,
  index: proof.index,
  siblings: proof.siblings.map(({ hash, sum, side }) => ({
    hash,
    sumBase: sum.toString(),
    side,
  })),
  root: { hash: proof.root.hash, sumBase: proof.root.sum.toString() },
  asOf: proof.asOf.toISOString(),
});
