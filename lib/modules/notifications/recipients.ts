/** Chooses the people who are notified of news, and whether by mail. Pure. */
import { newId } from "@/lib/core/ids";
import type { Role } from "@/lib/core/actor";
import type { NotificationKind } from "@/lib/contracts/notifications";
import { defaultChoice, LARGE_DEPOSIT_USD, mayBeTold, type Choice } from "./kinds";
import type { News, Notification } from "./notification";

/** A member of the project with what the person chose; kinds that are not in `choices` have their defaults. */
export interface Recipient {
  readonly userId: string;
  readonly role: Role;
  readonly joinedAt: Date;
  readonly choices: ReadonlyMap<NotificationKind, Choice>;
  /** Null: the default. */
  readonly largeDepositUsd: string | null;
}

/** People who may vote, by the id of the request. */
export type Voters = ReadonlyMap<string, ReadonlySet<string>>;

const isMeant = (news: News, { userId, role, joinedAt, largeDepositUsd }: Recipient, voters: Voters): boolean => {
  if (!mayBeTold(role, news.kind) || joinedAt > news.at || news.by === userId) return false;
  if (news.decisionId !== null) return voters.get(news.decisionId)?.has(userId) === true;
  // A deposit whose value is not known may be large, so people are notified of it.
  return news.depositUsd === null || news.depositUsd >= Number(largeDepositUsd ?? LARGE_DEPOSIT_USD);
};

const mailOf = (news: News, { mail }: Choice): Notification["mail"] => {
  if (mail === "off") return "none";
  // The request mails those who chose `at_once` itself, with every value that is approved.
  return mail === "at_once" && news.decisionId !== null ? "none" : mail;
};

/** The notification of each person who gets one, in the application, by mail, or both. */
export const notificationsOf = (news: News, people: readonly Recipient[], voters: Voters): readonly Notification[] =>
  people.flatMap((person) => {
    if (!isMeant(news, person, voters)) return [];
    const choice = person.choices.get(news.kind) ?? defaultChoice(news.kind);
    const mail = mailOf(news, choice);
    if (!choice.inApp && mail === "none") return [];
    const { projectId, kind, source, title, detail, objectId, path, at } = news;
    const own = { userId: person.userId, id: newId("notification"), inApp: choice.inApp, mail, createdAt: at };
    return [{ projectId, kind, source, title, detail, objectId, path, ...own }];
  });
