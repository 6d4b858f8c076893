import type { Metadata } from "next";
import type { ReactNode } from "react";
import { NotMe } from "@/components/features/session-made/not-me";

export const metadata: Metadata = { title: "This was not me", referrer: "no-referrer" };

const Page = (): ReactNode => <NotMe />;

export default Page;
