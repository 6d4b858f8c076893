/** Shows payouts of both kinds as movements of money, for the list of all movements. */
import type { Statement } from "@/lib/platform/db/statement";
import type { Assets } from "@/lib/chain/assets";
import type { Token } from "@/lib/core/token";
import type {
  PayoutActivityFilter,
  PayoutActivityRepository,
  SoleRecipient,
} from "./activity-repository";
import type { PayoutsContext } from "./context";
import { paidIn } from "./outcome";
import type { Payout } from "./payout";
import type { AccountsPayoutParts, WalletsPayoutParts } from "./payout-view";
import { readParts } from "./read-payouts";

export interface AccountsMovement extends AccountsPayoutParts {
  /** The recipient of the only row; null when the payout has several rows. */
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
  /** The amounts by token, in the order of each token's first row. */
  readonly totals: readonly TokenMoved[];
  readonly recipient: SoleRecipient | null;
}

export type PayoutMovement = AccountsMovement | WalletsMovement;

export interface PayoutActivityDeps {
  readonly repository: PayoutActivityRepository;
  readonly rows: PayoutsContext["rows"];
  readonly assets: Assets;
}

const totalsOf = ({ own, groups }: Pick<WalletsPayoutParts, "own" | "groups">): TokenMoved[] =>
  own.totals.map(({ token, amountBase }) => ({
    token,
    amountBase,
    paidBase: paidIn(groups, token),
  }));

export const createPayoutActivity = ({ repository, rows, assets }: PayoutActivityDeps) => {
  const movements = async (
    projectId: string,
    payouts: readonly Payout[],
  ): Promise<PayoutMovement[]> => {
    const [all, recipients] = await Promise.all([
      readParts({ rows, assets }, projectId, payouts),
      repository.soleRecipients(projectId, payouts),
    ]);
    return all.map((parts): PayoutMovement => {
      const recipient = recipients.get(parts.payout.id) ?? null;
      if (parts.kind === "global_accounts") return { ...parts, recipient };
      const { kind, payout } = parts;
      return { kind, payout, totals: totalsOf(parts), recipient };
    });
  };

  const searchedAssets = ({ q }: PayoutActivityFilter): string[] => {
    const symbol = q?.toLowerCase();
    return assets
      .list()
      .filter((asset) => asset.symbol.toLowerCase() === symbol)
      .map(({ assetId }) => assetId);
  };

  return {
    /**
     * SQL: whether a payout `p`, with its row `w` of `wallet_payout`, belongs to the list that
     * `page` reads.
     */
    condition: (projectId: string, filter: PayoutActivityFilter): Promise<Statement> =>
      repository.condition({ projectId, filter, searchedAssets: searchedAssets(filter) }),

    /**
     * Reads a page of a project's payouts, newest first. `before` is the id of the last payout of
     * the previous page.
     */
    page: async (
      projectId: string,
      query: {
        readonly filter: PayoutActivityFilter;
        readonly before?: string | undefined;
        readonly limit: number;
      },
    ): Promise<PayoutMovement[]> => {
      const { filter, before, limit } = query;
      return movements(
        projectId,
        await repository.page({
          projectId,
          filter,
          searchedAssets: searchedAssets(filter),
          before,
          limit,
        }),
      );
    },
  };
};

export type PayoutActivity = ReturnType<typeof createPayoutActivity>;
