/** Error cases of operations on people, keys, members, policies and webhooks. */
import {
  APPROVAL,
  approvalFor,
  ADMINS_ONLY,
  SENDING_MAIL,
  VOTE,
  NO_ENDPOINT_CHANGE,
  CALLBACK,
  FOREIGN_HOST,
  type Cases,
} from "./shared";

const BOOK_FULL = {
  invalid_state: {
    when: "The address book is full.",
    action: "Remove a contact that is not paid any more.",
  },
} as const;

export const ACCESS_CASES: Readonly<Record<string, Cases>> = {
  createApiKey: APPROVAL,
  updateApiKey: approvalFor("The key was changed or revoked meanwhile"),
  rotateApiKey: approvalFor(
    "The key was revoked, or changed meanwhile, or too few people could vote then",
  ),
  createToken: {
    invalid_signature: {
      when: "The message is not one of this service (domain, chain, statement, time), or its signature is not by the address in it.",
      action: "Ask for a new nonce and sign the whole message again (EIP-4361).",
    },
  },
  refreshToken: {
    unauthorized: {
      when: "The refresh token is unknown, has expired, or was used before. After a second use its session is revoked.",
      action: "Sign in again.",
    },
  },
  signInByPasskey: {
    invalid_signature: {
      when: "The passkey is unknown, or its answer is not for these options.",
      action: "Ask for new options, or sign in with the wallet.",
    },
  },
  updateMe: {
    ...approvalFor(
      "The e-mail address was changed meanwhile, or too few people could vote with it",
    ),
    ...SENDING_MAIL,
  },
  verifyEmail: {
    invalid_state: {
      when: "Another member of one of the person's projects has this mailbox, and too few people could vote there then. The address is not verified.",
      action:
        "Verify an address of your own, or lower the number of votes first (PATCH or PUT /policies).",
    },
  },
  listApiKeyRequests: ADMINS_ONLY,
  listAuditLog: ADMINS_ONLY,
  exportAuditLog: ADMINS_ONLY,
  createExport: {
    forbidden: {
      when: "The audit log is for owners and admins, and for no API key.",
      action: "Let an owner or admin of the project make the export.",
    },
  },
  downloadExport: {
    invalid_state: {
      when: "The file is still being written, could not be written, or was removed after 7 days.",
      action: "Read GET /exports/{id}: wait until it is ready, or make the export again.",
    },
  },
  listParkedJobs: ADMINS_ONLY,
  resumeJob: ADMINS_ONLY,
  createContact: BOOK_FULL,
  importContacts: BOOK_FULL,
  releaseDeposit: {
    ...approvalFor("The deposit is not in quarantine any more, or its block is not final"),
    ...ADMINS_ONLY,
  },
  decidePayoutDoubt: {
    ...approvalFor(
      "The batch is in no doubt, or was decided; or `by_chain` and the chain does not tell; or a statement, and the chain, or one of its providers, shows something else",
    ),
    chain_unavailable: {
      when: "The chain does not answer, its providers do not agree, or a block of the part is not final. Nothing was changed.",
      action: "Try again in some minutes.",
    },
    ...ADMINS_ONLY,
  },
  unfreezeGlobalAccount: {
    ...approvalFor("The account is closed, and stays closed"),
    ...ADMINS_ONLY,
  },
  updateSponsorBudget: { ...approvalFor("The budget was changed meanwhile"), ...ADMINS_ONLY },
  approveContacts: {
    ...approvalFor("One of the contacts was changed meanwhile"),
    ...ADMINS_ONLY,
  },
  approveContact: { ...approvalFor("The contact was changed meanwhile"), ...ADMINS_ONLY },
  requestDecisionCode: {
    ...SENDING_MAIL,
    forbidden: {
      when: "The person may not decide this request.",
      action: "Let somebody vote whom `required` allows.",
    },
    invalid_state: {
      when: "The request is decided or has ended.",
      action: "Read the request; no vote is needed.",
    },
  },
  requestDecisionsCode: {
    ...SENDING_MAIL,
    forbidden: {
      when: "The person may not decide one of these requests.",
      action: "Leave it out, or let somebody vote whom its `required` allows.",
    },
    invalid_state: {
      when: "One of the requests is decided or has ended, or the person has voted on it.",
      action: "Read the requests, and ask for a code for those that are open.",
    },
  },
  approveDecision: VOTE,
  approveDecisions: {
    ...VOTE,
    invalid_state: {
      when: "None of the requests can be voted on any more: each is decided, has ended, or has the person's vote. No vote was counted.",
      action: "Read the requests; `state` and `votes` say how each stands.",
    },
    invalid_signature: {
      when: "The signature or the passkey's answer is not for exactly this set of requests.",
      action: "Sign `message` of POST /approvals/request-otp for the same ids.",
    },
  },
  declineDecision: VOTE,
  startTotp: approvalFor("The person has an authenticator app already; remove it first"),
  confirmTotp: {
    invalid_state: {
      when: "No authenticator app waits for its first code: ten minutes are over, or it was confirmed.",
      action: "POST /me/factors/totp again.",
    },
  },
  removeTotp: APPROVAL,
  renewRecoveryCodes: APPROVAL,
  startPasskey: approvalFor(
    "The person has as many passkeys as are possible; remove one first",
  ),
  addPasskey: {
    invalid_state: {
      when: "The options were used, or are older than five minutes. Nothing was added.",
      action: "POST /me/passkeys/options again.",
    },
    invalid_signature: {
      when: "The new passkey's answer does not fit the options or this service's address.",
      action: "Ask for new options, and create it on the dashboard's own address.",
    },
  },
  removePasskey: APPROVAL,
  restoreMadeThings: approvalFor("One of them was restored or has ended meanwhile"),
  createProject: {
    invalid_state: {
      when: "The person belongs to as many projects as are possible.",
      action: "Leave one first.",
    },
  },
  updateMember: approvalFor(
    "The member is the last owner, or was changed meanwhile, or too few people could vote then",
  ),
  removeMember: approvalFor(
    "The member is the last owner, or was changed meanwhile, or too few people could vote then",
  ),
  createInvitation: approvalFor(
    "The person is a member already, or the project is full, or you have no verified e-mail address",
  ),
  withdrawInvitation: {
    invalid_state: {
      when: "The invitation was accepted or has expired.",
      action: "Read the list of members.",
    },
  },
  acceptInvitation: {
    invalid_state: {
      when: "The invitation was used, withdrawn or has expired, or the person is a member already.",
      action: "Ask who invited you for a new one.",
    },
  },
  setReportingCurrency: {
    invalid_state: {
      when: "The reporting currency was changed meanwhile.",
      action: "Read it, then change it again if it is still wrong.",
    },
  },
  updatePolicies: approvalFor("The policy was changed meanwhile"),
  putPolicy: { ...approvalFor("The policy was changed meanwhile"), ...ADMINS_ONLY },
  exportPrivacyWallet: {
    ...approvalFor("People vote on it already, or the rules were changed meanwhile"),
    ...ADMINS_ONLY,
    policy_violation: {
      when: "A rule of a policy of the project, of one of its wallets or of one of its API keys bounds where money goes or how much of it. Nothing was shown.",
      action: "Take the money out with POST /privacy/unshield, or change these rules first.",
    },
  },
  getMetrics: {
    unauthorized: {
      when: "The request comes from another machine without the token of METRICS_TOKEN.",
      action: "Send `Authorization: Bearer …`.",
    },
    forbidden: FOREIGN_HOST,
  },
  readInbox: { forbidden: FOREIGN_HOST },
  receiveWebhook: { forbidden: FOREIGN_HOST },
  verifyWalletLink: {
    invalid_signature: {
      when: "The signature is not by the wallet, or not over the message of POST /wallets/link/init.",
      action: "Sign that message whole with the wallet.",
    },
  },
  unlinkWallet: {
    invalid_state: {
      when: "An operation still moves money from the wallet.",
      action: "Unlink it when that operation has ended; the message names it.",
    },
  },
  resendDelivery: { invalid_state: NO_ENDPOINT_CHANGE },
  createWebhookEndpoint: {
    invalid_state: {
      when: "The project has as many endpoints as are possible.",
      action: "Delete one first.",
    },
  },
  updateWebhookEndpoint: approvalFor("The endpoint was changed meanwhile"),
  rotateWebhookSecret: APPROVAL,
  testWebhookEndpoint: { invalid_state: NO_ENDPOINT_CHANGE },
  replayWebhookEvents: { invalid_state: NO_ENDPOINT_CHANGE },
  createPushSubscription: {
    invalid_state: {
      when: "The service has no key for push messages.",
      action: "Let whoever runs the service set VAPID_PRIVATE_KEY.",
    },
  },
  createNotificationChannel: approvalFor("The project has as many channels as are possible"),
  updateNotificationChannel: approvalFor("The channel was changed meanwhile"),
  receiveRoutingCallback: CALLBACK,
  receiveBundlerCallback: CALLBACK,
};
