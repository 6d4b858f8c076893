import * as apiKeys from "./api-keys";
import * as auth from "./auth";
import * as audit from "./audit";
import * as balances from "./balances";
import * as chains from "./chains";
import * as contacts from "./contacts";
import type { Contract } from "./contract";
import * as dev from "./dev";
import * as events from "./events";
import * as globalAccounts from "./global-accounts";
import * as operations from "./operations";
import * as payoutSchedules from "./payout-schedules";
import * as payouts from "./payouts";
import * as policies from "./policies";
import * as privacy from "./privacy";
import * as reserves from "./reserves";
import * as swap from "./swap";
import * as system from "./system";
import * as transfers from "./transfers";
import * as wallets from "./wallets";
import * as webhookEndpoints from "./webhook-endpoints";
import * as webhooks from "./webhooks";

/** Every route of the service; the OpenAPI document is made from this list, and a test holds it to the route files. */
export const contracts: readonly Contract[] = [
  privacy.listPrivacyWallets,
  privacy.createPrivacyWallet,
  privacy.exportPrivacyWallet,
  privacy.getPrivateBalances,
  privacy.shield,
  privacy.unshield,
  privacy.privateTransfer,
  privacy.listPrivateExits,
  privacy.startPrivateExit,
  privacy.listPrivateTransfers,
  privacy.getPrivateTransfer,
  privacy.quotePrivateSwap,
  privacy.preparePrivateSwap,
  privacy.executePrivateSwap,
  auth.createNonce,
  auth.createToken,
  auth.refreshToken,
  auth.logout,
  auth.getJwks,
  auth.whoAmI,
  auth.getMe,
  auth.updateMe,
  auth.verifyEmail,
  apiKeys.createApiKey,
  apiKeys.listApiKeys,
  apiKeys.updateApiKey,
  apiKeys.revokeApiKey,
  policies.getPolicies,
  policies.updatePolicies,
  audit.listAuditLog,
  wallets.listWallets,
  wallets.labelWallet,
  wallets.initWalletLink,
  wallets.verifyWalletLink,
  wallets.listLinkedWallets,
  wallets.unlinkWallet,
  wallets.createSmartAccount,
  contacts.listContacts,
  contacts.createContact,
  contacts.deleteContact,
  chains.listChains,
  chains.listTokens,
  swap.createQuote,
  swap.requestOtp,
  swap.prepareSwap,
  swap.executeSwap,
  transfers.createTransfer,
  transfers.listTransfers,
  transfers.getTransfer,
  transfers.cancelTransfer,
  transfers.swapAndTransfer,
  operations.listOperations,
  operations.exportOperations,
  operations.getOperation,
  operations.cancelOperation,
  operations.retryOperation,
  operations.approveOperation,
  operations.streamOperationEvents,
  globalAccounts.createGlobalAccount,
  globalAccounts.listGlobalAccounts,
  globalAccounts.getGlobalAccount,
  globalAccounts.fundGlobalAccount,
  globalAccounts.reverseFunding,
  globalAccounts.listEntries,
  globalAccounts.getStatement,
  reserves.getReservesProof,
  reserves.getReserves,
  payouts.createAccountsPayout,
  payouts.createWalletsPayout,
  payouts.listPayouts,
  payouts.getPayout,
  payouts.listPayoutItems,
  payouts.approvePayout,
  payouts.cancelPayout,
  payouts.retryPayout,
  payoutSchedules.createPayoutSchedule,
  payoutSchedules.listPayoutSchedules,
  payoutSchedules.getPayoutSchedule,
  payoutSchedules.approvePayoutSchedule,
  payoutSchedules.cancelPayoutSchedule,
  balances.getUnifiedBalances,
  balances.getBalanceHistory,
  webhooks.receiveRoutingCallback,
  webhooks.receiveBundlerCallback,
  events.listEvents,
  webhookEndpoints.createWebhookEndpoint,
  webhookEndpoints.listWebhookEndpoints,
  webhookEndpoints.getWebhookEndpoint,
  webhookEndpoints.updateWebhookEndpoint,
  webhookEndpoints.deleteWebhookEndpoint,
  webhookEndpoints.rotateWebhookSecret,
  webhookEndpoints.testWebhookEndpoint,
  webhookEndpoints.replayWebhookEvents,
  webhookEndpoints.listDeliveries,
  webhookEndpoints.getDelivery,
  webhookEndpoints.resendDelivery,
  dev.useFaucet,
  dev.readInbox,
  dev.receiveWebhook,
  dev.readWebhookReceiver,
  system.getHealth,
  system.getReadiness,
  system.getMetrics,
  system.getOpenApi,
];
