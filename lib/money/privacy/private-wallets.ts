import { type Actor, actorName } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { isId, newId } from "@/lib/core/ids";
import { doneBy } from "@/lib/news/audit/service";
import type { Envelopes } from "@/lib/platform/ports/encryption";
import type { PrivateWalletKey } from "@/lib/money/ports/privacy";
import { unknownPrivacyWallet } from "./errors";
import { mnemonicContext, type PrivateWallet } from "./rows";
import type { PrivacyWalletRepository } from "./wallet-repository";

export interface PrivateWalletsDeps {
  readonly wallets: PrivacyWalletRepository;
  readonly envelopes: Envelopes;
  readonly newMnemonic: () => string;
  readonly clock: Clock;
}

const DEFAULT_NAME = "Private";
export const PRIVATE_WALLETS_MAX = 100;

/** Creates and finds a project's private wallets. Their mnemonics are encrypted at rest. */
export const createPrivateWallets = ({
  wallets,
  envelopes,
  newMnemonic,
  clock,
}: PrivateWalletsDeps) => {
  const make = async (
    actor: Actor,
    { name, isDefault }: { name: string; isDefault: boolean },
  ): Promise<string> => {
    const id = newId("privacyWallet");
    const { projectId } = actor;
    const now = clock.now();
    const envelope = envelopes.close(
      Buffer.from(newMnemonic(), "utf8"),
      mnemonicContext({ projectId, id }),
    );
    const neverShown = { exportedAt: null, exportDecisionId: null };
    await wallets.insert(
      {
        projectId,
        id,
        name,
        isDefault,
        ...envelope,
        ...neverShown,
        createdBy: actorName(actor),
        createdAt: now,
      },
      {
        ...doneBy(actor),
        action: "privacy_wallet.created",
        subject: id,
        data: { name },
        at: now,
      },
    );
    return id;
  };

  const find = async (projectId: string, id: string, path: string): Promise<PrivateWallet> => {
    const wallet = isId("privacyWallet", id) ? await wallets.find(projectId, id) : null;
    if (wallet === null) throw unknownPrivacyWallet(path);
    return wallet;
  };

  /** The project's default wallet, which is created on first use. */
  const defaultOf = async (actor: Actor): Promise<PrivateWallet> => {
    const known = await wallets.findDefault(actor.projectId);
    if (known !== null) return known;
    await make(actor, { name: DEFAULT_NAME, isDefault: true });
    const made = await wallets.findDefault(actor.projectId);
    if (made === null) throw new Error("The default private wallet was not stored.");
    return made;
  };

  return {
    create: async (actor: Actor, name: string): Promise<PrivateWallet> =>
      find(actor.projectId, await make(actor, { name, isDefault: false }), "privacyWalletId"),
    list: (projectId: string): Promise<PrivateWallet[]> =>
      wallets.list(projectId, PRIVATE_WALLETS_MAX),
    /**
     * The wallet with this id; by default the project's default wallet.
     * @throws DomainError `unknown_privacy_wallet`
     */
    choose: (actor: Actor, id: string | undefined): Promise<PrivateWallet> =>
      id === undefined ? defaultOf(actor) : find(actor.projectId, id, "privacyWalletId"),
    /**
     * The project's private wallet with this id.
     * @param path the request's field, named in the error
     * @throws DomainError `unknown_privacy_wallet`
     */
    find,
    keyOf: (wallet: PrivateWallet): PrivateWalletKey => {
      const bytes = envelopes.open(wallet, mnemonicContext(wallet));
      const mnemonic = bytes.toString("utf8");
      bytes.fill(0);
      return { id: wallet.id, mnemonic };
    },
  };
};

export type PrivateWallets = ReturnType<typeof createPrivateWallets>;
