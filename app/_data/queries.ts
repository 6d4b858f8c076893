import {
  firstPageQuery,
  PAGE_ROWS,
  pageQuery,
  PAGES_KEY,
  queryKeyOf,
  type PageQuery,
} from "@/components/features/session/query-key";
import { listActivity } from "@/lib/contracts/activity";
import { listApiKeys } from "@/lib/contracts/api-keys";
import { getMe } from "@/lib/contracts/auth";
import { getBalanceHistory, getUnifiedBalances } from "@/lib/contracts/balances";
import { listTokens } from "@/lib/contracts/chains";
import { listContacts } from "@/lib/contracts/contacts";
import { getGlobalAccount, listGlobalAccounts } from "@/lib/contracts/global-accounts";
import { readProjectInbox } from "@/lib/contracts/inbox";
import { listMembers } from "@/lib/contracts/members";
import { getOperation, listOperations } from "@/lib/contracts/operations";
import { getPayout, listPayouts } from "@/lib/contracts/payouts";
import { getPrivateBalances, listPrivacyWallets, listPrivateTransfers } from "@/lib/contracts/privacy";
import { getReserves } from "@/lib/contracts/reserves";
import { listWallets } from "@/lib/contracts/wallets";
import { listDeliveries } from "@/lib/contracts/webhook-deliveries";
import { getWebhookEndpoint, listWebhookEndpoints } from "@/lib/contracts/webhook-endpoints";

/**
 * The questions that each page asks at its first drawing, exactly as its hooks ask them. `e2e/first-paint.spec.ts` fails when the browser asks
 * one of them again.
 */

const HISTORY_DAYS = 30;

const me = pageQuery(getMe, {});
const balances = pageQuery(getUnifiedBalances, {});
const wallets = firstPageQuery(listWallets, { query: {} }, [...queryKeyOf(listWallets), PAGES_KEY]);
const tokens = pageQuery(listTokens, {});
const contacts = pageQuery(listContacts, {});
const apiKeys = pageQuery(listApiKeys, {});
const members = pageQuery(listMembers, {});
const history = pageQuery(getBalanceHistory, { query: { days: HISTORY_DAYS } });
const reserves = pageQuery(getReserves, {});

const operations = (query: { readonly status?: "completed" | "processing"; readonly limit: number }): PageQuery =>
  pageQuery(listOperations, { query: { ...query, private: "exclude" } });

/** Of the frame around every page. */
export const SHELL_QUERIES: readonly PageQuery[] = [me];

export const OVERVIEW_QUERIES: readonly PageQuery[] = [
  balances,
  history,
  wallets,
  reserves,
  apiKeys,
  pageQuery(readProjectInbox, {}),
  pageQuery(listPayouts, { query: { limit: 1 } }),
  tokens,
  operations({ limit: 5 }),
  operations({ status: "processing", limit: 100 }),
  operations({ status: "completed", limit: 1 }),
];

export const BALANCES_QUERIES: readonly PageQuery[] = [balances, history, wallets, reserves];
export const SWAP_QUERIES: readonly PageQuery[] = [wallets, tokens, balances, reserves];
export const TRANSFER_QUERIES: readonly PageQuery[] = [...SWAP_QUERIES, contacts];
export const RESERVES_QUERIES: readonly PageQuery[] = [reserves];
export const INBOX_QUERIES: readonly PageQuery[] = [pageQuery(readProjectInbox, {})];
export const WALLETS_QUERIES: readonly PageQuery[] = [wallets, balances];
export const API_KEYS_QUERIES: readonly PageQuery[] = [apiKeys];
export const MEMBERS_QUERIES: readonly PageQuery[] = [members];
export const WEBHOOKS_QUERIES: readonly PageQuery[] = [pageQuery(listWebhookEndpoints, {})];
export const PRIVATE_QUERIES: readonly PageQuery[] = [
  pageQuery(getPrivateBalances, {}),
  pageQuery(listPrivacyWallets, {}),
  pageQuery(listPrivateTransfers, { query: { limit: 1 } }),
  tokens,
];

/** Without filters. Days of a filter are days of the person's own time zone, which the server does not know. */
export const ACTIVITY_QUERIES: readonly PageQuery[] = [
  wallets,
  contacts,
  firstPageQuery(listActivity, { query: { limit: PAGE_ROWS } }, [...queryKeyOf(listActivity), PAGES_KEY, {}]),
];
export const PAYOUTS_QUERIES: readonly PageQuery[] = [
  firstPageQuery(listPayouts, { query: { limit: PAGE_ROWS } }, [...queryKeyOf(listPayouts, { query: {} }), PAGES_KEY]),
];
export const ACCOUNTS_QUERIES: readonly PageQuery[] = [
  firstPageQuery(listGlobalAccounts, { query: { limit: PAGE_ROWS } }, [
    ...queryKeyOf(listGlobalAccounts, { query: {} }),
    PAGES_KEY,
  ]),
  tokens,
];

export const accountQueries = (id: string): readonly PageQuery[] => [pageQuery(getGlobalAccount, { params: { id } })];
export const operationQueries = (id: string): readonly PageQuery[] => [
  pageQuery(getOperation, { params: { id } }),
  wallets,
];
export const payoutQueries = (id: string): readonly PageQuery[] => [pageQuery(getPayout, { params: { id } })];
/** Without a filter of its deliveries. */
export const webhookEndpointQueries = (id: string): readonly PageQuery[] => [
  pageQuery(getWebhookEndpoint, { params: { id } }),
  pageQuery(listDeliveries, { params: { id }, query: {} }),
];
