import { z } from "zod";
import { APPROVAL_ERRORS, givenApproval } from "./approvals";
import { otp, timestamp } from "./common";
import { defineContract } from "./contract";

const tag = "Profile";

const withApproval = z.object({ approval: givenApproval.optional() });

const recoveryCodes = z.object({
  recoveryCodes: z.array(z.string()).meta({
    description: "Ten codes, each good once in place of the app. They are shown this once",
  }),
});

export const getFactors = defineContract({
  method: "GET",
  path: "/me/factors",
  summary: "What the person approves with beside mailed codes and the wallet",
  description:
    "Reads whether an authenticator app is set up, and how many recovery codes are left.",
  tag,
  auth: "user",
  status: 200,
  response: z.object({
    totp: z
      .object({ since: timestamp.meta({ description: "When the app was confirmed" }) })
      .nullable()
      .meta({ description: "The authenticator app; null where none is set up" }),
    recoveryCodesLeft: z.int().meta({ description: "Recovery codes that were not used yet" }),
  }),
});

export const startTotp = defineContract({
  method: "POST",
  path: "/me/factors/totp",
  summary:
    "A secret for an authenticator app; it counts once a code confirms it. Needs an approval",
  description:
    "Show `uri` as a QR code to the app, then send its code to POST /me/factors/totp/confirm within 10 minutes. Until then nothing changes. A second call replaces a secret that was not confirmed. The first call answers 409 `approval_required`.",
  tag,
  auth: "user",
  personal: true,
  keepsNoAnswer: true,
  body: withApproval,
  status: 200,
  response: z.object({
    secret: z.string().meta({ description: "Base32, for apps that cannot read the QR code" }),
    uri: z
      .string()
      .meta({ description: "otpauth link for the QR code: SHA-1, 6 digits, 30 s" }),
    expiresAt: timestamp.meta({ description: "Until when it can be confirmed" }),
  }),
  errors: [...APPROVAL_ERRORS, "invalid_state"],
});

export const confirmTotp = defineContract({
  method: "POST",
  path: "/me/factors/totp/confirm",
  summary: "Confirms the authenticator app by its code, and shows ten recovery codes once",
  description:
    "From now on codes of the app approve what mailed codes approve. Keep the recovery codes apart from the app. Wrong codes count against the hourly limit of the person.",
  tag,
  auth: "user",
  personal: true,
  keepsNoAnswer: true,
  body: z.object({ code: otp.meta({ description: "The six digits that the app shows" }) }),
  status: 200,
  response: recoveryCodes,
  errors: ["otp_invalid", "otp_attempts_exceeded", "invalid_state"],
});

export const removeTotp = defineContract({
  method: "POST",
  path: "/me/factors/totp/remove",
  summary: "Removes the authenticator app and its recovery codes; needs an approval",
  description:
    "Its codes and the recovery codes stop working at once. Approve by a code of the app, a recovery code, a passkey, a mailed code or the wallet.",
  tag,
  auth: "user",
  personal: true,
  body: withApproval,
  status: 200,
  response: z.object({ removed: z.literal(true).meta({ description: "Always true" }) }),
  errors: [...APPROVAL_ERRORS, "not_found"],
});

export const renewRecoveryCodes = defineContract({
  method: "POST",
  path: "/me/factors/recovery-codes",
  summary: "Ten new recovery codes; the old ones stop working. Needs an approval",
  description:
    "Use it when few codes are left, or when somebody may have seen them. The codes are shown this once.",
  tag,
  auth: "user",
  personal: true,
  keepsNoAnswer: true,
  body: withApproval,
  status: 200,
  response: recoveryCodes,
  errors: [...APPROVAL_ERRORS, "not_found"],
});
