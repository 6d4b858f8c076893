import type { PolicyRules } from "@/lib/contracts/policy-rules";

/**
 * A policy with every rule. A new rule does not compile until it is added here, so that the tests
 * of policy pages and serializers cover it.
 */
export const EVERY_RULE: Required<PolicyRules> = {
  perOperation: { usd: "1000", assets: [{ assetId: "usdc", amount: "2500.5" }] },
  perDay: { usd: "5000", assets: [{ assetId: "eth", amount: "2" }] },
  recipients: "approved_contacts",
  newRecipientHours: 24,
  screening: "require_clear",
  chains: [31337],
  tokens: [{ chainId: 31337, token: "native" }],
  hours: { timeZone: "Europe/Berlin", windows: [{ days: [1, 2], from: "08:00", to: "24:00" }] },
  code: { mode: "above", usd: "50" },
  approvals: {
    aboveUsd: "100",
    count: 2,
    roles: ["admin", "operator"],
    excludeMaker: false,
    exemptKeys: true,
  },
};
