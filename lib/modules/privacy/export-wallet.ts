import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { requirePermission } from "@/lib/core/permissions";
import { quoted, type ApprovalsService, type GivenApproval } from "@/lib/modules/approvals/service";
import { doneBy } from "@/lib/modules/audit/service";
import type { PrivacyWalletRepository } from "./wallet-repository";
import type { PrivateWallets } from "./private-wallets";

export interface ExportWalletDeps {
  readonly wallets: PrivacyWalletRepository;
  readonly privateWallets: PrivateWallets;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  /** Whether the project, by its setting or its policy, lets several people approve what moves money. */
  readonly demandsVotes: (projectId: string) => Promise<boolean>;
  readonly clock: Clock;
}

const oneAlone = (): DomainError =>
  new DomainError(
    "invalid_state",
    "In this project several people approve what moves money, and one person with the mnemonic could move it alone. " +
      "Take the demand for votes out of the settings and policies first, which the owners are told.",
  );

/**
 * Shows a private wallet's mnemonic, once for each approval. Whoever has the mnemonic can move the wallet's money.
 * @throws DomainError `forbidden`, `invalid_state` where several people approve what moves money, `unknown_privacy_wallet`, and those of the approval
 */
export const createExportWallet =
  ({ wallets, privateWallets, approvals, demandsVotes, clock }: ExportWalletDeps) =>
  async (actor: UserActor, walletId: string, approval: GivenApproval | undefined): Promise<string> => {
    requirePermission(actor, "private-keys:export");
    const wallet = await privateWallets.find(actor.projectId, walletId, "id");
    if (await demandsVotes(actor.projectId)) throw oneAlone();
    const change = {
      kind: "privacy_wallet.export",
      title: "Show the mnemonic of a private wallet, with which anybody can move its money",
      lines: [`Private wallet: ${quoted(wallet.name)} (${wallet.id})`],
      values: { walletId: wallet.id },
    };
    const approved = await approvals.requireApproval(actor, change, approval);
    const entry = { ...doneBy(actor), action: "privacy_wallet.exported", subject: wallet.id, at: clock.now() };
    // The audit row is stored before the mnemonic is shown.
    await wallets.recordExport({ ...entry, data: { ...approved.record } }, (tx) => approved.consume(tx));
    return privateWallets.keyOf(wallet).mnemonic;
  };
