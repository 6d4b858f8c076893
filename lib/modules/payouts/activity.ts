/** Payouts of both kinds as movements of money, for a list of everything that moves it. */
import type { Asset, Assets } from "@/lib/chains/assets";
import type { Token } from "@/lib/core/token";
import type { PayoutActivityFilter, PayoutActivityRepository, SoleRecipient } from "./activity-repository";
import type { AccountsPayout, Payout } from "./payout";
import type { WalletsPayoutParts } from "./wallets/service";
import type { WalletPayoutsReader } from "./wallets/read-repository";
import { tokenName } from "./wallets/rows";

export interface AccountsMovement {
  readonly kind: "global_accounts";
  readonly payout: AccountsPayout;
  /** Null when no configured chain lists it any more. */
  readonly asset: Asset | null;
  /** Of a payout with a single row. */
  readonly recipient: SoleRecipient | null;
}

interface TokenMoved {
  readonly token: Token;
  readonly amountBase: bigint;
  readonly paidBase: bigint;
}

export interface WalletsMovement {
  readonly kind: "wallets";
  readonly payout: Payout;
  /** In the order of each token's first row. */
  readonly totals: readonly TokenMoved[];
  readonly recipient: SoleRecipient | null;
}

export type PayoutMovement = AccountsMovement | WalletsMovement;

export interface PayoutActivityDeps {
  readonly repository: PayoutActivityRepository;
  readonly rows: Pick<WalletPayoutsReader, "shown" | "groups">;
  readonly assets: Assets;
}

const totalsOf = ({ own, groups }: Pick<WalletsPayoutParts, "own" | "groups">): TokenMoved[] =>
  own.totals.map(({ token, amountBase }) => ({
    token,
    amountBase,
    paidBase: groups
      .filter((group) => group.status === "paid" && group.token === tokenName(token))
      .reduce((sum, group) => sum + group.amountBase, 0n),
  }));

export const createPayoutActivity = ({ repository, rows, assets }: PayoutActivityDeps) => {
  const movements = async (projectId: string, payouts: readonly Payout[]): Promise<PayoutMovement[]> => {
    const ids = payouts.filter(({ kind }) => kind === "wallets").map(({ id }) => id);
    const [owns, groups, recipients] = await Promise.all([
      rows.shown(projectId, ids),
      rows.groups(projectId, ids),
      repository.soleRecipients(projectId, payouts),
    ]);
    return payouts.flatMap((payout): PayoutMovement[] => {
      const recipient = recipients.get(payout.id) ?? null;
      if (payout.kind === "global_accounts")
        return [{ kind: payout.kind, payout, asset: assets.find(payout.currency), recipient }];
      const own = owns.get(payout.id);
      if (own === undefined && payout.unread !== true) throw new Error(`${payout.id} has no row in wallet_payout.`);
      if (own === undefined || own === null) return [];
      const ownGroups = groups.filter(({ payoutId }) => payoutId === payout.id);
      return [{ kind: payout.kind, payout, totals: totalsOf({ own, groups: ownGroups }), recipient }];
    });
  };

  return {
    /** A project's payouts, newest first. `before` is the id of the last one of the page before. */
    page: async (
      projectId: string,
      query: { readonly filter: PayoutActivityFilter; readonly before?: string | undefined; readonly limit: number },
    ): Promise<PayoutMovement[]> => {
      const { filter, before, limit } = query;
      const symbol = filter.q?.toLowerCase();
      const searchedAssets = assets
        .list()
        .filter((asset) => asset.symbol.toLowerCase() === symbol)
        .map(({ assetId }) => assetId);
      return movements(projectId, await repository.page({ projectId, filter, searchedAssets, before, limit }));
    },
  };
};

export type PayoutActivity = ReturnType<typeof createPayoutActivity>;
