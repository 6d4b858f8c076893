import type { ResponseOf } from "@/lib/contracts/contract";
import type { getFactors, startTotp } from "@/lib/contracts/factors";
import type { addPasskey, listPasskeys } from "@/lib/contracts/passkeys";
import type { Factors, NewTotp, Passkey } from "./factors";
import type { requestOtp } from "@/lib/contracts/swap";
import type { OtpSent } from "./codes";

export const toFactors = ({
  totpSince,
  recoveryCodesLeft,
}: Factors): ResponseOf<typeof getFactors> => ({
  totp: totpSince === null ? null : { since: totpSince.toISOString() },
  recoveryCodesLeft,
});

export const toNewTotp = ({
  secret,
  uri,
  expiresAt,
}: NewTotp): ResponseOf<typeof startTotp> => ({
  secret,
  uri,
  expiresAt: expiresAt.toISOString(),
});

export const toPasskey = (passkey: Passkey): ResponseOf<typeof addPasskey> => ({
  id: passkey.id,
  name: passkey.name,
  synced: passkey.synced,
  createdAt: passkey.createdAt.toISOString(),
  lastUsedAt: passkey.lastUsedAt?.toISOString() ?? null,
  heldUntil: passkey.heldUntil?.toISOString() ?? null,
});

export const toPasskeys = (passkeys: readonly Passkey[]): ResponseOf<typeof listPasskeys> => ({
  data: passkeys.map(toPasskey),
});

export const toOtpSent = (sent: OtpSent): ResponseOf<typeof requestOtp> => ({
  otpId: sent.otpId,
  channel: sent.channel,
  destination: sent.destination,
  expiresAt: sent.expiresAt.toISOString(),
  resendAfter: sent.resendAfter.toISOString(),
  ...(sent.passkey === undefined ? {} : { passkey: sent.passkey }),
});
