import { signIn } from "next-auth/react";
import type { Address } from "viem";
import { createSiweMessage } from "viem/siwe";
import { readInvitationToken } from "@/components/features/members/invitation-token";
import type { createNonce } from "@/lib/contracts/auth";
import type { ResponseOf } from "@/lib/contracts/contract";

interface MessageInput {
  readonly nonce: ResponseOf<typeof createNonce>;
  readonly address: Address;
  readonly chainId: number;
  readonly issuedAt: Date;
}

/** The EIP-4361 message to sign, exactly as the page shows it. */
export const signInMessage = ({ nonce, address, chainId, issuedAt }: MessageInput): string =>
  createSiweMessage({
    address,
    chainId,
    domain: nonce.domain,
    uri: nonce.uri,
    statement: nonce.statement,
    nonce: nonce.nonce,
    version: "1",
    issuedAt,
    expirationTime: new Date(nonce.expiresAt),
  });

/** Why the service refused a signature, by error code of `POST /auth/token`. */
const REFUSALS: Readonly<Record<string, string>> = {
  nonce_expired:
    "The message was older than ten minutes, or was used already. Here is a new one.",
  invalid_signature:
    "The signature does not fit the message and the address. Check which account the wallet signed with.",
  sign_up_closed:
    "This address has no account here, and sign-up is closed. Ask whoever runs this installation to let you in, open the link of your invitation in this tab, or use another wallet.",
};

export const refusalText = (code: string | null | undefined): string =>
  REFUSALS[code ?? ""] ??
  "The service did not accept the signature. Try again with a new message.";

interface Signed {
  readonly message: string;
  readonly signature: string;
}

/**
 * The credentials of a sign-in.
 * @param invitation token of an invitation that was opened in this tab; it admits a new person when
 * sign-up is closed
 */
export const credentialsOf = (
  signed: Signed,
  invitation: string | null,
): Signed & { readonly invitation?: string } =>
  invitation === null || invitation === "" ? signed : { ...signed, invitation };

/**
 * Signs in with the signed message through next-auth. Returns null on success, otherwise the
 * reason of the failure.
 */
export const verifySignature = async (
  message: string,
  signature: string,
): Promise<string | null> => {
  const credentials = credentialsOf({ message, signature }, readInvitationToken());
  const answer = await signIn("credentials", { ...credentials, redirect: false });
  if (answer?.ok === true) return null;
  return refusalText(answer?.error);
};
