import { describe, expect, test } from "vitest";
import type { Mail, Mailer } from "./mail";

interface MailSetUp {
  readonly mailer: Mailer;
  /** The mails that arrived, oldest first. */
  received(): Promise<readonly Pick<Mail, "to" | "subject" | "text">[]>;
}

/** Contract tests that every adapter of the Mailer port must pass. */
export const mailContract = (name: string, setUp: () => Promise<MailSetUp>): void => {
  describe(`${name} keeps the Mailer contract`, () => {
    test("recipient, subject and text arrive unchanged, including characters beyond ASCII", async () => {
      const { mailer, received } = await setUp();
      const mail = {
        to: "ada@example.com",
        subject: "Dein Code – 你好",
        text: "Zeile eins\n.\nLine two: 12,50 €",
      };
      await mailer.send(mail);
      expect(await received()).toEqual([mail]);
    });

    test("each of many mails that are sent concurrently arrives once", async () => {
      const { mailer, received } = await setUp();
      const subjects = Array.from({ length: 20 }, (_, i) => `Mail ${i}`);
      await Promise.all(
        subjects.map((subject) =>
          mailer.send({ to: "ada@example.com", subject, text: "Hello" }),
        ),
      );
      const arrived = (await received()).map(({ subject }) => subject);
      expect(arrived.toSorted()).toEqual(subjects.toSorted());
    });

    test("a line break in the subject adds no header and no recipient", async () => {
      const { mailer, received } = await setUp();
      await mailer.send({
        to: "ada@example.com",
        subject: "Hello\r\nBcc: eve@example.com",
        text: "Hello",
      });
      const arrived = await received();
      expect(arrived.map(({ to }) => to)).toEqual(["ada@example.com"]);
    });
  });
};
