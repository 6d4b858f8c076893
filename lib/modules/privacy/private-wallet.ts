/** A private wallet of a project. Its mnemonic, with which anybody can move its money, is stored encrypted. */
export interface PrivateWallet {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  /** Used where a request names no private wallet; a project has one such wallet. */
  readonly isDefault: boolean;
  /** The encrypted mnemonic. */
  readonly ciphertext: Uint8Array;
  readonly wrappedDataKey: Uint8Array;
  readonly kekId: string;
  /** An actor's name, as `actorName` gives it. */
  readonly createdBy: string;
  readonly createdAt: Date;
}

/** The associated data of the encryption: a mnemonic that was moved to another project's or wallet's row cannot be decrypted. */
export const mnemonicContext = ({ projectId, id }: Pick<PrivateWallet, "projectId" | "id">): string =>
  JSON.stringify(["privacy-wallet", projectId, id]);
