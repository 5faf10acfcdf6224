int a;	
int b;
