import { GET as activity } from "@/app/api/activity/route";
import { GET as apiKeys } from "@/app/api/auth/api-keys/route";
import { GET as balanceHistory } from "@/app/api/balances/history/route";
import { GET as balances } from "@/app/api/balances/unified/route";
import { GET as contacts } from "@/app/api/contacts/route";
import { GET as globalAccounts } from "@/app/api/global-accounts/route";
import { GET as globalAccount } from "@/app/api/global-accounts/[id]/route";
import { GET as inbox } from "@/app/api/inbox/route";
import { GET as me } from "@/app/api/me/route";
import { GET as members } from "@/app/api/members/route";
import { GET as operations } from "@/app/api/operations/route";
import { GET as operation } from "@/app/api/operations/[id]/route";
import { GET as payouts } from "@/app/api/payouts/route";
import { GET as payout } from "@/app/api/payouts/[id]/route";
import { GET as privateBalances } from "@/app/api/privacy/balances/route";
import { GET as privateWallets } from "@/app/api/privacy/wallets/route";
import { GET as reportingCurrency } from "@/app/api/reporting-currency/route";
import { GET as reserves } from "@/app/api/reserves/route";
import { GET as tokens } from "@/app/api/tokens/route";
import { GET as wallets } from "@/app/api/wallets/route";
import { GET as webhookEndpoints } from "@/app/api/webhook-endpoints/route";
import { GET as webhookEndpoint } from "@/app/api/webhook-endpoints/[id]/route";
import { GET as webhookDeliveries } from "@/app/api/webhook-endpoints/[id]/deliveries/route";

/** The API routes that the server may call to prefetch the data of a page. */
export const PAGE_ROUTES = [
  { path: "/api/activity", GET: activity },
  { path: "/api/auth/api-keys", GET: apiKeys },
  { path: "/api/balances/history", GET: balanceHistory },
  { path: "/api/balances/unified", GET: balances },
  { path: "/api/contacts", GET: contacts },
  { path: "/api/global-accounts", GET: globalAccounts },
  { path: "/api/global-accounts/[id]", GET: globalAccount },
  { path: "/api/inbox", GET: inbox },
  { path: "/api/me", GET: me },
  { path: "/api/members", GET: members },
  { path: "/api/operations", GET: operations },
  { path: "/api/operations/[id]", GET: operation },
  { path: "/api/payouts", GET: payouts },
  { path: "/api/payouts/[id]", GET: payout },
  { path: "/api/privacy/balances", GET: privateBalances },
  { path: "/api/privacy/wallets", GET: privateWallets },
  { path: "/api/reporting-currency", GET: reportingCurrency },
  { path: "/api/reserves", GET: reserves },
  { path: "/api/tokens", GET: tokens },
  { path: "/api/wallets", GET: wallets },
  { path: "/api/webhook-endpoints", GET: webhookEndpoints },
  { path: "/api/webhook-endpoints/[id]", GET: webhookEndpoint },
  { path: "/api/webhook-endpoints/[id]/deliveries", GET: webhookDeliveries },
] as const;
