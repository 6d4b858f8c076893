import type { Metadata } from "next";
import type { ReactNode } from "react";
import { DevMailPage } from "@/components/features/dev-mail/dev-mail";

export const metadata: Metadata = { title: "Mail" };

const Page = (): ReactNode => <DevMailPage />;

export default Page;
