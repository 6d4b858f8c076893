import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Contacts } from "@/components/features/contacts/contacts";

export const metadata: Metadata = { title: "Contacts" };

const Page = (): ReactNode => <Contacts />;

export default Page;
