import { requireUnfrozen, type Movement } from "@/lib/chains/require-unfrozen";
import type { PrivacyContext } from "./context";

/**
 * Checks that no token's issuer has frozen the treasury, the pool or the recipient of a private operation.
 * @throws DomainError `wallet_frozen`, `recipient_frozen`
 */
export const requireUnfrozenMove = ({ freezes }: PrivacyContext, move: Movement): Promise<void> =>
  requireUnfrozen(freezes, move, { source: () => "token", recipient: "toAddress" });
