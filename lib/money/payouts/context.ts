/** The services and repositories that payouts use. `wiring.ts` creates this context once. */
import type { Assets } from "@/lib/chain/assets";
import type { ChainRegistry } from "@/lib/chain/registry";
import type { TokenFreezes } from "@/lib/chain/token-freezes";
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import type { SqlReader } from "@/lib/platform/db/sql";
import type { ApprovalsService } from "@/lib/trust/proofs/service";
import type { DecisionsService } from "@/lib/trust/decisions/service";
import type { HoldsService } from "@/lib/books/holds/service";
import type { LedgerService } from "@/lib/books/ledger/service";
import type { PoliciesService, PolicyEngine } from "@/lib/trust/policies/service";
import type { RecipientsService } from "@/lib/trust/recipients/service";
import type { ReservesService } from "@/lib/books/reserves/service";
import type { SigningGate } from "@/lib/money/signing/service";
import type { SmartAccountsService } from "@/lib/chain/smart-accounts/service";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import type { FundingService } from "@/lib/money/swaps/service";
import type { WalletsService } from "@/lib/trust/wallets/service";
import type { PayoutsRepository } from "./repository";
import type { DoubtRepository } from "./wallets/batches/doubt-repository";
import type { PayoutMoney } from "./wallets/money";
import type { WalletPayoutsReader } from "./wallets/read-repository";
import type { WalletPayoutsRepository } from "./wallets/repository";
import type { Prices, Worths } from "./worth";

export interface PayoutsContext {
  readonly database: Database;
  /** Runs read-only statements outside of any transaction. */
  readonly reader: SqlReader;
  readonly registry: ChainRegistry;
  readonly assets: Assets;
  readonly clock: Clock;
  readonly prices: Prices;
  readonly freezes: TokenFreezes;
  readonly approvals: ApprovalsService;
  readonly decisions: DecisionsService;
  readonly funding: FundingService;
  readonly holds: HoldsService;
  readonly ledger: LedgerService;
  readonly policies: PoliciesService;
  readonly policyEngine: PolicyEngine;
  readonly recipients: RecipientsService;
  readonly reserves: ReservesService;
  readonly smartAccounts: SmartAccountsService;
  readonly sponsorship: SponsorshipService;
  readonly wallets: WalletsService;
  /**
   * Answers whether signing is allowed. After a restore from a backup, also answers whether an
   * operation that the restored database does not contain has made a payment.
   */
  readonly lostMoves: SigningGate;
  /** For each evaluation id, reads the worth in US dollars that the policies recorded. */
  readonly worths: (projectId: string, evaluationIds: readonly string[]) => Promise<Worths>;
  readonly repository: PayoutsRepository;
  readonly walletsRepository: WalletPayoutsRepository;
  readonly doubts: DoubtRepository;
  readonly rows: WalletPayoutsReader;
  readonly money: PayoutMoney;
}
