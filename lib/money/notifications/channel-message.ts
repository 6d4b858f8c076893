/** Chooses the messages for chat channels, and writes them in the form of each chat. Pure. */
import type { ChannelService } from "@/lib/contracts/notification-channels";
import { newId } from "@/lib/core/ids";
import type { ChannelMessage, SubscribedChannel } from "./channel-rows";
import { LARGE_DEPOSIT_USD, type News } from "./notification";

/** Includes amounts and details only if the channel does, and never for private movements. */
const textFor = (
  news: News,
  { includeAmounts }: SubscribedChannel,
): Pick<ChannelMessage, "title" | "detail"> => {
  const { plainTitle, title, detail, decisionId, isPrivate } = news;
  if (!includeAmounts || isPrivate) return { title: plainTitle, detail: null };
  // The full title of a request for votes addresses its reader, so a channel gets the plain title.
  return { title: decisionId === null ? title : plainTitle, detail };
};

const isFor = (news: News, channel: SubscribedChannel): boolean =>
  channel.projectId === news.projectId &&
  channel.kinds.includes(news.kind) &&
  channel.createdAt <= news.at &&
  (news.depositUsd === null || news.depositUsd >= Number(LARGE_DEPOSIT_USD));

export const messagesOf = (
  all: readonly News[],
  subscribed: readonly SubscribedChannel[],
): readonly ChannelMessage[] =>
  all.flatMap((news) =>
    subscribed
      .filter((channel) => isFor(news, channel))
      .map((channel) => ({
        projectId: news.projectId,
        channelId: channel.id,
        id: newId("channelMessage"),
        ...textFor(news, channel),
        path: news.path,
        createdAt: news.at,
      })),
  );

type Line = Pick<ChannelMessage, "title" | "detail" | "path">;

export interface Post {
  /** Name of the project. */
  readonly project: string;
  readonly lines: readonly Line[];
  readonly publicUrl: string;
}

const headingOf = ({ project, lines }: Post): string => {
  const [first] = lines;
  return lines.length === 1 && first !== undefined
    ? `${first.title} (${project})`
    : `${String(lines.length)} notifications of ${project}`;
};

/**
 * Escapes the three characters that Slack reads as markup, so that a text cannot mention people.
 */
const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const slackBody = (post: Post): object => {
  const sections = post.lines.map(({ title, detail, path }) => ({
    type: "section",
    text: {
      type: "mrkdwn",
      text: [
        `*${escaped(title)}*`,
        ...(detail === null ? [] : [escaped(detail)]),
        `<${post.publicUrl}${path}|Open in Causeway>`,
      ].join("\n"),
    },
  }));
  const context = {
    type: "context",
    elements: [{ type: "plain_text", text: post.project, emoji: false }],
  };
  return {
    text: escaped(headingOf(post)),
    blocks: [...sections, context],
    unfurl_links: false,
  };
};

/**
 * Text in a form that the chat shows unchanged. In a text block, the chat would read parts of the
 * text as markup.
 */
const run = (text: string, looks: object = {}): object => ({
  type: "RichTextBlock",
  inlines: [{ type: "TextRun", text, ...looks }],
});

const teamsBody = (post: Post): object => {
  const items = post.lines.map(({ title, detail, path }, index) => ({
    type: "Container",
    separator: index > 0,
    items: [
      run(title, { weight: "Bolder" }),
      ...(detail === null ? [] : [run(detail)]),
      {
        type: "ActionSet",
        actions: [
          {
            type: "Action.OpenUrl",
            title: "Open in Causeway",
            url: `${post.publicUrl}${path}`,
          },
        ],
      },
    ],
  }));
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    fallbackText: headingOf(post),
    body: [...items, run(post.project, { isSubtle: true, size: "Small" })],
  };
  return {
    type: "message",
    attachments: [
      { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content },
    ],
  };
};

const BODIES: Readonly<Record<ChannelService, (post: Post) => object>> = {
  slack: slackBody,
  teams: teamsBody,
};

/** The JSON body that an incoming webhook of the chat takes. */
export const bodyFor = (service: ChannelService, post: Post): string =>
  JSON.stringify(BODIES[service](post));
