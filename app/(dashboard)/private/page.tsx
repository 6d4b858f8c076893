import type { Metadata } from "next";
import type { ReactNode } from "react";
import { PrivatePage } from "@/components/features/private/private-page";

export const metadata: Metadata = { title: "Private" };

const Page = (): ReactNode => <PrivatePage />;

export default Page;
