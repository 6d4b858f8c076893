import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { requirePermission } from "@/lib/core/permissions";
import { quoted, type ApprovalsService, type GivenApproval } from "@/lib/modules/approvals/service";
import { doneBy } from "@/lib/modules/audit/service";
import type { PrivacyWalletRepository } from "./wallet-repository";
import type { PrivateWallets } from "./private-wallets";

export interface ExportWalletDeps {
  readonly wallets: PrivacyWalletRepository;
  readonly privateWallets: PrivateWallets;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly clock: Clock;
}

/**
 * Shows a private wallet's mnemonic, once for each approval. Whoever has the mnemonic can move the wallet's money.
 * @throws DomainError `forbidden`, `unknown_privacy_wallet`, and those of the approval
 */
export const createExportWallet =
  ({ wallets, privateWallets, approvals, clock }: ExportWalletDeps) =>
  async (actor: UserActor, walletId: string, approval: GivenApproval | undefined): Promise<string> => {
    requirePermission(actor, "private-keys:export");
    const wallet = await privateWallets.find(actor.projectId, walletId, "id");
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
