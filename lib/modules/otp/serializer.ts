import type { ResponseOf } from "@/lib/contracts/contract";
import type { requestOtp } from "@/lib/contracts/swap";
import type { OtpSent } from "./service";

export const toOtpSent = (sent: OtpSent): ResponseOf<typeof requestOtp> => ({
  otpId: sent.otpId,
  channel: sent.channel,
  destination: sent.destination,
  expiresAt: sent.expiresAt.toISOString(),
  resendAfter: sent.resendAfter.toISOString(),
  ...(sent.passkey === undefined ? {} : { passkey: sent.passkey }),
});
