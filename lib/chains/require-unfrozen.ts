import type { Address } from "viem";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { TokenFreezes } from "./token-freezes";

/** Money that is about to move, and the fields of the request that name its addresses. */
export interface Movement {
  readonly sources: readonly { readonly token: Token; readonly owner: Address }[];
  readonly destination: { readonly token: Token; readonly recipient: Address };
}

interface Paths {
  readonly source: (index: number) => string;
  readonly recipient: string;
}

const PATHS: Paths = { source: (index) => `from.${String(index)}.address`, recipient: "toAddress" };

/**
 * Checks that no token's issuer has frozen an address that pays in it, or the recipient.
 * @throws DomainError `wallet_frozen`, `recipient_frozen`
 */
export const requireUnfrozen = async (
  freezes: Pick<TokenFreezes, "areFrozen">,
  { sources, destination }: Movement,
  paths: Paths = PATHS,
): Promise<void> => {
  const { token, recipient } = destination;
  const wallets = sources.map((source) => ({ token: source.token, address: source.owner }));
  const frozen = await freezes.areFrozen([...wallets, { token, address: recipient }]);
  const index = frozen.indexOf(true);
  const wallet = wallets[index];
  if (wallet !== undefined) {
    const { symbol } = wallet.token;
    const message = `The issuer of ${symbol} has frozen the wallet ${wallet.address}, so its ${symbol} cannot leave it. Nothing was sent; the money is in the wallet.`;
    const details = [{ path: paths.source(index), message: `is frozen by the issuer of ${symbol}` }];
    throw new DomainError("wallet_frozen", message, { details });
  }
  if (index === -1) return;
  const message = `The issuer of ${token.symbol} has frozen the recipient ${recipient}, so ${token.symbol} cannot arrive there. Nothing was sent; the money is in the wallet.`;
  const details = [{ path: paths.recipient, message: `is frozen by the issuer of ${token.symbol}` }];
  throw new DomainError("recipient_frozen", message, { details });
};
