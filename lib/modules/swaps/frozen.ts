import type { TokenFreezes } from "@/lib/chains/token-freezes";
import { DomainError } from "@/lib/core/errors";
import type { RouteRequest } from "@/lib/ports/routing";

/**
 * Checks that no token's issuer has frozen a wallet that pays in it, or the recipient.
 * @throws DomainError `wallet_frozen`, `recipient_frozen`
 */
export const requireUnfrozen = async (
  freezes: Pick<TokenFreezes, "areFrozen">,
  { sources, destination }: RouteRequest,
): Promise<void> => {
  const { token, recipient } = destination;
  const wallets = sources.map((source) => ({ token: source.token, address: source.owner }));
  const frozen = await freezes.areFrozen([...wallets, { token, address: recipient }]);
  const index = frozen.indexOf(true);
  const wallet = wallets[index];
  if (wallet !== undefined) {
    const message = `The issuer of ${wallet.token.symbol} has frozen the wallet ${wallet.address}, so its ${wallet.token.symbol} cannot leave it. Nothing was sent; the money is in the wallet.`;
    const details = [
      { path: `from.${String(index)}.address`, message: `is frozen by the issuer of ${wallet.token.symbol}` },
    ];
    throw new DomainError("wallet_frozen", message, { details });
  }
  if (index === -1) return;
  const message = `The issuer of ${token.symbol} has frozen the recipient ${recipient}, so ${token.symbol} cannot arrive there. Nothing was sent; the money is in the wallet.`;
  const details = [{ path: "toAddress", message: `is frozen by the issuer of ${token.symbol}` }];
  throw new DomainError("recipient_frozen", message, { details });
};
